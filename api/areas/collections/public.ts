/** Collections for other areas and workers. */
export { passOnCollections, renameLabelInRules } from './collection/collections.store.ts';
export { findCollectionRow, getCollectionRow, pinnedToHome } from './collection/find.ts';
export { firstOfCollection } from './items/listing.ts';
