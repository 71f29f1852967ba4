export { storageHealth, unreadableRoots } from './health.ts';
export { Looks } from './looks.ts';
export { type OpenFile, type Opening, openMedia, type Wanted } from './opening.ts';
export { findStorages, isBelow, isFolder, type Place, placeInStorage, type Storage } from './roots.ts';
export {
  changeState,
  deleteStoragesOf,
  type FolderOnMount,
  folderHoldsFiles,
  handOverStorages,
  holdsFiles,
  listFoldersOnMounts,
  listMounts,
  type Mount,
  putMount,
  type Seen,
  takeReturned,
} from './states.store.ts';
