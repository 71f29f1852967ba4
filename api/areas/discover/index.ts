import { defineArea } from '#kernel/endpoint.ts';
import {
  getDiscoverTitle,
  listInCinemas,
  listNewOnDisc,
  listStreamingServices,
  listToStream,
  searchDiscoverTitles,
} from './discover.endpoints.ts';

export const discoverArea = defineArea('discover', 'Discover', [
  listInCinemas,
  listNewOnDisc,
  listToStream,
  searchDiscoverTitles,
  getDiscoverTitle,
  listStreamingServices,
]);
