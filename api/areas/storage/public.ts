export { findStorages, isBelow, isFolder, type Place, placeInStorage, type Storage } from './roots.ts';
