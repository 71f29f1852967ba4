export { itemsOfHashes } from './duplicates.ts';
export { cleanName, extensionOf, kindOfName, numbered } from './names.ts';
export { type UploadFolder, uploadFolderOf } from './target.ts';
export {
  endUpload,
  forgetEnded,
  hasEnded,
  KEPT_DAYS,
  keyOf,
  noteAppearing,
  noteArrival,
  noteChanged,
  noteNotified,
  noteParts,
  notePlace,
  notePlaced,
  noteProgress,
  noteStorageGone,
  noteTidied,
  noteUnnamed,
  OPEN_STATES,
  takeTurn,
  type UploadRow,
} from './uploads.store.ts';
