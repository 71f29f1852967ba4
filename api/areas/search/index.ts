import { defineArea } from '#kernel/endpoint.ts';
import { searchAll, searchItems, searchPeople, searchTranscripts, suggest } from './search.endpoints.ts';

export const searchArea = defineArea('search', 'Search', [
  searchAll,
  searchItems,
  searchPeople,
  searchTranscripts,
  suggest,
]);
