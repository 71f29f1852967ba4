import { defineArea } from '#kernel/endpoint.ts';
import {
  createCollection,
  deleteCollection,
  getCollection,
  listCollections,
  updateCollection,
} from './collections.endpoints.ts';
import {
  addCollectionItems,
  changeCollectionItems,
  listCollectionItems,
  previewSmartRules,
} from './items.endpoints.ts';

export const collectionsArea = defineArea('collections', 'Collections', [
  listCollections,
  createCollection,
  getCollection,
  updateCollection,
  deleteCollection,
  listCollectionItems,
  addCollectionItems,
  changeCollectionItems,
  previewSmartRules,
]);
