export type { Checked } from './checks/check.ts';
export { storageHealth, unreadableRoots } from './checks/health.ts';
export { observeStorage } from './checks/observe.ts';
export { answerChecks } from './checks/pods.ts';
export { lookAtFolder, rememberStorage } from './checks/remember.ts';
export { holdClocksBy } from './clocks.ts';
export { removeFoldersBy } from './delete.ts';
export {
  Absent,
  Altered,
  joined,
  type Listed,
  Occupied,
  StorageFault,
  type StorageReader,
  Unsent,
} from './readers/reader.ts';
export { takePersonalHosts } from './registry.ts';
export { mediaRelay } from './relay/serve.ts';
export { folderOnStorage, readerById } from './serving/folders.ts';
export { Looks, looks } from './serving/looks.ts';
export { type MediaConfig, type OpenFile, type Opening, openMedia, type Wanted } from './serving/opening.ts';
export { addressOf, streamOf } from './serving/ranges.ts';
export { findStorages, isFolder, type Place, placeInStorage, type Storage } from './serving/roots.ts';
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
  noteReason,
  putMount,
  type Seen,
  takeReturned,
} from './states.store.ts';
export { noteCheck, type StorageRow } from './storages.store.ts';
