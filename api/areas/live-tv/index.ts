import { defineArea } from '#kernel/endpoint.ts';
import {
  addLiveFavorite,
  getLiveChannel,
  getLiveStatus,
  listLiveChannels,
  listLiveGroups,
  removeLiveFavorite,
  testLiveChannel,
  updateLiveChannel,
  updateLiveChannels,
} from './channels/channels.endpoints.ts';
import {
  createTuner,
  deleteTuner,
  discoverTuners,
  getTuner,
  listTuners,
  scanTuner,
  updateTuner,
} from './tuners/tuners.endpoints.ts';
import {
  getLiveMaster,
  getLivePlaylist,
  getLiveSegment,
  getLiveSession,
  watchLiveChannel,
} from './watching/watching.endpoints.ts';

export const liveTvArea = defineArea('live-tv', 'Live TV', [
  getLiveStatus,
  listLiveChannels,
  getLiveChannel,
  updateLiveChannel,
  updateLiveChannels,
  testLiveChannel,
  addLiveFavorite,
  removeLiveFavorite,
  listLiveGroups,
  listTuners,
  createTuner,
  getTuner,
  updateTuner,
  deleteTuner,
  discoverTuners,
  scanTuner,
  watchLiveChannel,
  getLiveSession,
  getLiveMaster,
  getLivePlaylist,
  getLiveSegment,
]);
