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
  noteNotified,
  noteParts,
  notePlace,
  noteProgress,
  noteStorageGone,
  noteTidied,
  noteUnnamed,
  OPEN_STATES,
  takeTurn,
  type UploadRow,
} from './uploads.store.ts';
