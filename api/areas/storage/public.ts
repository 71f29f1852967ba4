export { storageHealth, unreadableRoots } from './health.ts';
export { findStorages, isBelow, isFolder, type Place, placeInStorage, type Storage } from './roots.ts';
export { changeState, holdsFiles, listMounts, type Mount, type Seen, takeReturned } from './states.store.ts';
