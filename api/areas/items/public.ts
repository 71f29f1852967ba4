/** What other areas and workers may use of Items. */
export {
  type FileRow,
  findFileRows,
  findFiles,
  findStreamRows,
  findStreams,
  type StreamRow,
  toMediaFile,
  toMediaStream,
} from './files.store.ts';
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
export {
  findHeldItem,
  findVisibleItem,
  firstToPlay,
  getVisibleItem,
  holdVisibleItem,
  nextUp,
  type VisibleItem,
} from './items.store.ts';
export { containerTypes, heldTypesOf, isContainer, resolutionOf, topTypesOf } from './kinds.ts';
export { itemsMatching } from './matching.ts';
export { Chapter, Marker, MediaFile, MediaStream } from './media.schemas.ts';
export { itemFilter } from './queries.ts';
export { listChapters } from './relations.store.ts';
export { findItemSummaries, listSummaries } from './summaries.store.ts';
export { ROOT_ORDER, type TitleOrder, titleOrder } from './title-order.ts';
export { trashedSummaries } from './trashed.store.ts';
