import { defineArea } from '#kernel/endpoint.ts';
import { changeItemsInBulk } from './bulk/bulk.endpoints.ts';
import { getItemFields, setItemLocks, updateItem } from './items.endpoints.ts';

export const editingArea = defineArea('editing', 'Editing', [
  updateItem,
  changeItemsInBulk,
  getItemFields,
  setItemLocks,
]);
