import { defineArea } from '#kernel/endpoint.ts';
import { listItems, listLibraryItems } from './browse.endpoints.ts';
import { getItemFile, listItemChapters, listItemFiles, listItemPeople } from './files.endpoints.ts';
import {
  getItem,
  getItemTree,
  listItemAncestors,
  listItemChildren,
  listItemExtras,
  listSimilarItems,
} from './items.endpoints.ts';

export const itemsArea = defineArea('items', 'Items', [
  listItems,
  listLibraryItems,
  getItem,
  listItemChildren,
  getItemTree,
  listItemAncestors,
  listSimilarItems,
  listItemExtras,
  listItemFiles,
  getItemFile,
  listItemChapters,
  listItemPeople,
]);
