import { defineArea } from '#kernel/endpoint.ts';
import { downloadFile, getTrickplay, getTrickplaySheet, streamFile } from './files/files.endpoints.ts';
import { getPrerollSettings, setPrerollSettings, streamPreroll } from './preroll/preroll.endpoints.ts';
import {
  getStreamMaster,
  getStreamPlaylist,
  getStreamSegment,
  getTranscodeSession,
  stopTranscodeSession,
} from './sessions/sessions.endpoints.ts';

export const streamingArea = defineArea('streaming', 'Streaming', [
  getTranscodeSession,
  stopTranscodeSession,
  getStreamMaster,
  getStreamPlaylist,
  getStreamSegment,
  streamFile,
  downloadFile,
  getTrickplay,
  getTrickplaySheet,
  getPrerollSettings,
  setPrerollSettings,
  streamPreroll,
]);
