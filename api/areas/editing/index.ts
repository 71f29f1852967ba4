import { defineArea } from '#kernel/endpoint.ts';
import { changeItemsInBulk } from './bulk/bulk.endpoints.ts';
import { deleteItem, getItemFields, mergeItems, setItemLocks, splitItem, updateItem } from './items.endpoints.ts';
import { listItemMarkers, setItemMarkers } from './markers.endpoints.ts';
import { applyItemMatch, clearItemMatch, refreshItem, searchItemMatches } from './match/match.endpoints.ts';

export const editingArea = defineArea('editing', 'Editing', [
  updateItem,
  deleteItem,
  changeItemsInBulk,
  mergeItems,
  splitItem,
  getItemFields,
  setItemLocks,
  listItemMarkers,
  setItemMarkers,
  searchItemMatches,
  applyItemMatch,
  clearItemMatch,
  refreshItem,
]);
