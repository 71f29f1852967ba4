import { defineArea } from '#kernel/endpoint.ts';
import { getItemFields, setItemLocks, updateItem } from './items.endpoints.ts';
import { applyItemMatch, clearItemMatch, refreshItem, searchItemMatches } from './match/match.endpoints.ts';

export const editingArea = defineArea('editing', 'Editing', [
  updateItem,
  getItemFields,
  setItemLocks,
  searchItemMatches,
  applyItemMatch,
  clearItemMatch,
  refreshItem,
]);
