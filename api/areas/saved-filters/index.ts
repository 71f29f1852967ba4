import { defineArea } from '#kernel/endpoint.ts';
import { deleteSavedFilter, listSavedFilters, saveFilter } from './filters.endpoints.ts';

export const savedFiltersArea = defineArea('saved-filters', 'Saved filters', [
  listSavedFilters,
  saveFilter,
  deleteSavedFilter,
]);
