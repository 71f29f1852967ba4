import type { LibrarySettings } from '#areas/libraries/libraries.schemas.ts';
import type { Db } from '#platform/db.ts';
import { storableJson } from '#platform/storable-json.ts';
import type { OwnRules } from '../own/rules.ts';

export interface ScannedLibrary {
  id: string;
  /** The built-in type that it is read like. */
  type: string;
  /** Its type: an owner-made one, or the same. */
  key: string;
  /** Rules of an owner-made type. */
  own?: OwnRules | undefined;
  settings: LibrarySettings;
  /** No scan of it has completed yet: items are added without events. */
  first: boolean;
}

/** Globs that a scan passes over. */
export function ignoredBy({ settings, own }: ScannedLibrary): string[] {
  return [...settings.ignore, ...(own?.ignore ?? [])];
}

export interface ScannedFolder {
  id: string;
  storageId: string;
  /** Inside the storage. */
  path: string;
  /** Absolute path of the storage's root in this process. */
  root: string;
}

/** What writing a batch needs; `db` is its transaction. */
export interface Writing {
  db: Db;
  scanId: string;
  library: ScannedLibrary;
  folder: ScannedFolder;
  /** Change number in the library, for clients that synchronize a copy. */
  seq: number;
}

/** JSON for `jsonb_to_recordset`. */
export const recordset = (rows: readonly object[]): string => storableJson(rows);
