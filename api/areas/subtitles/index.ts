import { defineArea } from '#kernel/endpoint.ts';
import { getItemFont, listItemFonts } from './fonts.endpoints.ts';
import { removeSubtitle } from './kept/remove.endpoints.ts';
import { getSubtitleImages } from './pictures/images.endpoints.ts';
import { autoFixSubtitleTiming, autoSyncSubtitle } from './sync/auto.endpoints.ts';
import {
  clearSubtitleSync,
  clearSubtitleTiming,
  getSubtitleSync,
  setSubtitleSync,
  setSubtitleTiming,
} from './sync/sync.endpoints.ts';
import { getSubtitleFile } from './texts.endpoints.ts';

export const subtitlesArea = defineArea('subtitles', 'Subtitles', [
  listItemFonts,
  getItemFont,
  getSubtitleFile,
  removeSubtitle,
  getSubtitleImages,
  getSubtitleSync,
  autoSyncSubtitle,
  setSubtitleSync,
  clearSubtitleSync,
  autoFixSubtitleTiming,
  setSubtitleTiming,
  clearSubtitleTiming,
]);
