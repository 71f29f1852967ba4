export { storageHealth, unreadableRoots } from './health.ts';
export { Looks } from './looks.ts';
export { type OpenFile, type Opening, openMedia, type Wanted } from './opening.ts';
export { findStorages, isBelow, isFolder, type Place, placeInStorage, type Storage } from './roots.ts';
export {
  changeFolder,
  changeState,
  type FolderOnMount,
  folderHoldsFiles,
  holdsFiles,
  listFoldersOnMounts,
  listMounts,
  type Mount,
  type Seen,
  takeReturned,
} from './states.store.ts';
