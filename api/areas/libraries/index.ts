import { defineArea } from '#kernel/endpoint.ts';
import { analyzeLibrary, deleteTrickplay } from './analyses/analyses.endpoints.ts';
import { autoTagLibrary } from './auto-tag/auto-tag.endpoints.ts';
import { getFingerprints, listDuplicates, makeFingerprints } from './fingerprints/fingerprints.endpoints.ts';
import {
  addLibraryFolders,
  createLibrary,
  deleteLibrary,
  getLibrary,
  listLibraries,
  orderLibraries,
  updateLibrary,
} from './libraries.endpoints.ts';
import { listCatalogueKeys, listMetadataAgents, setCatalogueKeys } from './metadata/metadata.endpoints.ts';
import { emptyTrash, listTrash, purgeTrashedItem, restoreTrash } from './trash/trash.endpoints.ts';

export const librariesArea = defineArea('libraries', 'Libraries', [
  listLibraries,
  createLibrary,
  getLibrary,
  updateLibrary,
  deleteLibrary,
  addLibraryFolders,
  listTrash,
  emptyTrash,
  purgeTrashedItem,
  restoreTrash,
  analyzeLibrary,
  deleteTrickplay,
  autoTagLibrary,
  listDuplicates,
  getFingerprints,
  makeFingerprints,
  orderLibraries,
  listMetadataAgents,
  listCatalogueKeys,
  setCatalogueKeys,
]);
