export { itemsOfHashes } from './duplicates.ts';
export { cleanName, extensionOf, kindOfName, numbered } from './names.ts';
export { type UploadFolder, uploadFolderOf } from './target.ts';
export {
  endUpload,
  forgetEnded,
  KEPT_DAYS,
  keyOf,
  noteArrival,
  noteNotified,
  noteParts,
  notePlace,
  noteProgress,
  noteStorageGone,
  OPEN_STATES,
  takeTurn,
  type UploadRow,
} from './uploads.store.ts';
