import { defineArea } from '#kernel/endpoint.ts';
import { getItemFields, setItemLocks, updateItem } from './items.endpoints.ts';

export const editingArea = defineArea('editing', 'Editing', [updateItem, getItemFields, setItemLocks]);
