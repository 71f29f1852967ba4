import type { LibrarySettings } from '#areas/libraries/libraries.schemas.ts';
import type { Db } from '#platform/db.ts';

export interface ScannedLibrary {
  id: string;
  type: string;
  settings: LibrarySettings;
  /** No scan of it has completed yet: items are added without events. */
  first: boolean;
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

/** JSON for `jsonb_to_recordset`, without NUL, which Postgres refuses in text. */
export function recordset(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}
