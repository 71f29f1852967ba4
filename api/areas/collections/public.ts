/** Collections for other areas and workers. */
export { placeAllInSeries } from './agents/series.store.ts';
export { passOnCollections, renameLabelInRules } from './collection/collections.store.ts';
export { findCollectionRow, findCollections, getCollectionRow, pinnedToHome } from './collection/find.ts';
export { joinCollections } from './items/held.store.ts';
export { firstOfCollection } from './items/listing.ts';
