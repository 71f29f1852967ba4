import { defineArea } from '#kernel/endpoint.ts';
import { getItemFont, listItemFonts } from './fonts.endpoints.ts';
import { getSubtitleFile } from './texts.endpoints.ts';

export const subtitlesArea = defineArea('subtitles', 'Subtitles', [listItemFonts, getItemFont, getSubtitleFile]);
