/** Pictures for other areas and workers. */
export { type Pictured, pictureEvent, settleArtwork, shownOf } from './choosing.store.ts';
export { dropFound, type Found, type FoundRow, foundImages, insertFound, replaceFound } from './found.store.ts';
export { type Taken, takeIn } from './intake.ts';
export { type ArtworkKind, fittingKind, kindsOf, mainKind } from './kinds.ts';
export {
  endStage,
  nextDue,
  noteWithoutPictures,
  type Pending,
  putOff,
  type Stage,
  takePending,
} from './pending.store.ts';
export { adoptPortraits, settlePortraits, survivorOf } from './portraits/portraits.store.ts';
