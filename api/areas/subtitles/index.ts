import { defineArea } from '#kernel/endpoint.ts';
import { downloadSubtitle, fetchSubtitle } from './fetch/fetch.endpoints.ts';
import { findSubtitles, searchSubtitles } from './find/find.endpoints.ts';
import { getItemFont, listItemFonts } from './fonts.endpoints.ts';
import { removeSubtitle } from './kept/remove.endpoints.ts';
import { getSubtitleImages } from './pictures/images.endpoints.ts';
import { createSubtitleBatch, stopSubtitleBatch } from './speech/batches.endpoints.ts';
import { getSubtitleCapabilities } from './speech/capabilities.endpoints.ts';
import { deleteGeneration, generateSubtitles, listGeneratedSubtitles } from './speech/generate.endpoints.ts';
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
  findSubtitles,
  searchSubtitles,
  fetchSubtitle,
  downloadSubtitle,
  removeSubtitle,
  getSubtitleImages,
  getSubtitleSync,
  autoSyncSubtitle,
  setSubtitleSync,
  clearSubtitleSync,
  autoFixSubtitleTiming,
  setSubtitleTiming,
  clearSubtitleTiming,
  generateSubtitles,
  listGeneratedSubtitles,
  createSubtitleBatch,
  stopSubtitleBatch,
  deleteGeneration,
  getSubtitleCapabilities,
]);
