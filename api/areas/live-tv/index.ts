import { defineArea } from '#kernel/endpoint.ts';
import {
  getLiveMaster,
  getLivePlaylist,
  getLiveSegment,
  getLiveSession,
  watchLiveChannel,
} from './watching/watching.endpoints.ts';

export const liveTvArea = defineArea('live-tv', 'Live TV', [
  watchLiveChannel,
  getLiveSession,
  getLiveMaster,
  getLivePlaylist,
  getLiveSegment,
]);
