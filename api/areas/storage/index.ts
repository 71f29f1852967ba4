import { defineArea } from '#kernel/endpoint.ts';
import { checkStorage, relocateStorage, setStorageIdentity, testStorage } from './checks/checks.endpoints.ts';
import { completeStorageAuthorization, connectDrive, startStorageAuthorization } from './drives/drives.endpoints.ts';
import { listHostEntries, listStorageEntries, listStorageKinds } from './entries/entries.endpoints.ts';
import { createStorage, deleteStorage, getStorage, listStorages, updateStorage } from './storages.endpoints.ts';

export const storageArea = defineArea('storage', 'Storage', [
  listStorages,
  createStorage,
  getStorage,
  updateStorage,
  deleteStorage,
  testStorage,
  checkStorage,
  setStorageIdentity,
  relocateStorage,
  listStorageEntries,
  listStorageKinds,
  connectDrive,
  startStorageAuthorization,
  completeStorageAuthorization,
  listHostEntries,
]);
