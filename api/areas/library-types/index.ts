import { defineArea } from '#kernel/endpoint.ts';
import {
  createLibraryType,
  deleteLibraryType,
  getLibraryType,
  listLibraryTypes,
  updateLibraryType,
} from './library-types.endpoints.ts';

export const libraryTypesArea = defineArea('library-types', 'Library types', [
  listLibraryTypes,
  createLibraryType,
  getLibraryType,
  updateLibraryType,
  deleteLibraryType,
]);
