/** Items for other areas and workers. */
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
export { findItemSummaries, listSummaries } from './item/summaries.store.ts';
export { trashedSummaries } from './item/trashed.store.ts';
export {
  Artwork,
  Credit,
  ItemDetail,
  ItemSummary,
  ItemType,
  itemTypes,
  PersonRole,
  UserState,
} from './items.schemas.ts';
export { heldTypesOf, resolutionOf, topTypesOf } from './kinds.ts';
export { itemsMatching } from './listing/matching.ts';
export { ROOT_ORDER, type TitleOrder, titleOrder } from './listing/title-order.ts';
export { Chapter, Marker, MediaFile, MediaStream } from './media.schemas.ts';
export { itemFilter } from './queries.ts';
export { listChapters } from './relations/relations.store.ts';
