import { defineArea } from '#kernel/endpoint.ts';
import { exportLibraryItems, listLibraryChanges } from './copies/copies.endpoints.ts';
import { getItemFile, listItemChapters, listItemFiles, listItemPeople } from './files/files.endpoints.ts';
import { browseLibraryFolders, listMissingChildren } from './folders/folders.endpoints.ts';
import {
  getItem,
  getItemNeighbours,
  getItemTree,
  listItemAncestors,
  listItemChildren,
  listItemExtras,
  listSimilarItems,
} from './item/items.endpoints.ts';
import {
  getLibraryFacets,
  getLibraryIndex,
  getLibraryMap,
  getLibraryTimeline,
  listLibraryFields,
} from './library-views/library-views.endpoints.ts';
import { listItems, listLibraryItems } from './listing/browse.endpoints.ts';

export const itemsArea = defineArea('items', 'Items', [
  listItems,
  listLibraryItems,
  getItem,
  listItemChildren,
  getItemTree,
  listItemAncestors,
  getItemNeighbours,
  listSimilarItems,
  listItemExtras,
  listItemFiles,
  getItemFile,
  listItemChapters,
  listItemPeople,
  browseLibraryFolders,
  listMissingChildren,
  listLibraryFields,
  getLibraryFacets,
  getLibraryIndex,
  getLibraryTimeline,
  getLibraryMap,
  listLibraryChanges,
  exportLibraryItems,
]);
