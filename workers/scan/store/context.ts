import type { LibrarySettings } from '#areas/libraries/libraries.schemas.ts';
import type { Db } from '#platform/db.ts';

export interface ScannedLibrary {
  id: string;
  type: string;
  settings: LibrarySettings;
  /** No scan of it has completed yet: items are added silently. */
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

/** What the writing of one batch needs; `db` is its transaction. */
export interface Writing {
  db: Db;
  scanId: string;
  library: ScannedLibrary;
  folder: ScannedFolder;
  /** Number of this change in its library, for clients that keep a copy. */
  seq: number;
}

/** Rows of a statement that reads its parameters from one JSON array. */
export async function rowsOf<Row>(db: Db, sql: string, bindings: readonly unknown[]): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings as (string | number | null)[]);
  return rows;
}

/** JSON for `jsonb_to_recordset`; Postgres takes no NUL in a text. */
export function recordset(rows: readonly object[]): string {
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
  );
}
