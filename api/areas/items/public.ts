/** Items for other areas and workers. */

export { knowCustomFields } from './fields/custom-fields.ts';
export { findCustomValues } from './fields/custom-values.ts';
export { fieldsFor, itemFieldNames } from './fields/fields.ts';
export { onlyUnwatched } from './fields/unwatched.ts';
export {
  type FileRow,
  findFileRows,
  findFiles,
  findStreamRows,
  findStreams,
  type StreamRow,
  toMediaFile,
  toMediaStream,
} from './files/files.store.ts';
export {
  findSubtitleFields,
  REMOVABLE_MS,
  subtitleFileName,
  toSubtitleSync,
} from './files/subtitle-fields.view.ts';
export { itemDetail } from './item/detail.ts';
export {
  findHeldItem,
  findVisibleItem,
  firstToPlay,
  getVisibleItem,
  holdVisibleItem,
  nextUp,
  type VisibleItem,
} from './item/items.store.ts';
export { findItemSummaries, listSummaries, visibleItems } from './item/summaries.store.ts';
export { trashedSummaries } from './item/trashed.store.ts';
export {
  Artwork,
  Credit,
  ItemDetail,
  ItemSummary,
  ItemType,
  itemTypes,
  ListedItem,
  PersonRole,
  UserState,
} from './items.schemas.ts';
export { heldTypesOf, resolutionOf, topTypesOf } from './kinds.ts';
export { itemsPage } from './listing/browse.ts';
export { dayOf } from './listing/day.ts';
export { checkIncludes, includeQuery, listRelations, withIncludes } from './listing/includes.ts';
export { checkList, firstIds, idsPage, type Listing, listed, rulesFor, type Viewer } from './listing/listing.ts';
export { itemsMatching } from './listing/matching.ts';
export { serverPage, serverSorts } from './listing/server-list.ts';
export {
  getVisibleLibrary,
  type LibraryRow,
  listVisibleLibraries,
  type Shelf,
  shelvesOf,
} from './listing/shelves.store.ts';
export { sliceOf } from './listing/slices.ts';
export { librarySorts as sortNames, type SortName } from './listing/sorts.ts';
export { ROOT_ORDER, type TitleOrder, titleOrder } from './listing/title-order.ts';
export {
  Chapter,
  Marker,
  MediaFile,
  MediaStream,
  type SubtitleFields,
  SubtitleSync,
  SubtitleTrack,
} from './media.schemas.ts';
export { itemFilter, itemFilterOf } from './queries.ts';
export { listChapters } from './relations/relations.store.ts';
export { listSimilar } from './relations/similar.store.ts';
export { SmartRules } from './smart/smart.schemas.ts';
export { atPath, checkSmartRules, type SmartList, smartFaults, smartList } from './smart/smart-list.ts';
