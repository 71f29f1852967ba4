import { defineArea } from '#kernel/endpoint.ts';
import {
  getLiveGuide,
  getLiveProgram,
  listLivePrograms,
  removeProgramReminder,
  setProgramReminder,
} from './guide/guide.endpoints.ts';
import { listGuideSourceChannels, matchGuideChannels, setGuideMappings } from './guide/mappings/mappings.endpoints.ts';
import {
  createGuideSource,
  deleteGuideSource,
  listGuideSources,
  refreshGuideSource,
  updateGuideSource,
} from './guide/sources/sources.endpoints.ts';

export const liveTvArea = defineArea('live-tv', 'Live TV', [
  getLiveGuide,
  listLivePrograms,
  getLiveProgram,
  setProgramReminder,
  removeProgramReminder,
  listGuideSources,
  createGuideSource,
  updateGuideSource,
  deleteGuideSource,
  refreshGuideSource,
  listGuideSourceChannels,
  setGuideMappings,
  matchGuideChannels,
]);
