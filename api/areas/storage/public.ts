export {
  type Bytes,
  ffmpegInput,
  ffmpegProtocols,
  type MediaStat,
  openBytes,
  readMedia,
  statMedia,
  streamMedia,
} from './bytes.ts';
export type { Checked } from './check.ts';
export { removeFoldersBy } from './delete.ts';
export { storageHealth, unreadableRoots } from './health.ts';
export { Looks } from './looks.ts';
export { observeStorage } from './observe.ts';
export { answerChecks } from './pods.ts';
export { type OpenFile, type Opening, openMedia, type Wanted } from './opening.ts';
export { takePersonalHosts } from './registry.ts';
export { lookAtFolder, rememberStorage } from './remember.ts';
export { findStorages, isBelow, isFolder, type Place, placeInStorage, type Storage } from './roots.ts';
export {
  changeState,
  deleteStoragesOf,
  type FolderOnMount,
  folderHoldsFiles,
  handOverStorages,
  holdsFiles,
  isUnavailable,
  listFoldersOnMounts,
  listWatched,
  putMount,
  type Seen,
  takeReturned,
} from './states.store.ts';
export { noteCheck, type StorageRow } from './storages.store.ts';
