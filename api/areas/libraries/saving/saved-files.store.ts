// The files that Foyer wrote next to media, by which a scan and the next writing know them.
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

/** A place next to media. */
export interface SavedPlace {
  storageId: string;
  /** Inside the storage. */
  directory: string;
  name: string;
}

const COLUMNS = [
  'storage_id',
  'directory',
  'name',
  'sha256',
  'library_id',
  'size_bytes',
  'modified_ms',
  'made_of',
  'item_id',
] as const;
export type SavedFile = Pick<Row<'saved_files'>, (typeof COLUMNS)[number]>;

/** Whether anything was written in a library or on storages. */
export async function hasSavedFiles(db: Db, libraryId: string, storageIds: readonly string[]): Promise<boolean> {
  const found = await db('saved_files')
    .where({ library_id: libraryId })
    .orWhereIn('storage_id', storageIds)
    .first('storage_id');
  return found !== undefined;
}

/** Files written in these directories, and those of the library with one of these times, wherever they are now. */
export async function findSavedFiles(
  db: Db,
  libraryId: string,
  { storageId, directories, times }: { storageId: string; directories: readonly string[]; times: readonly number[] },
): Promise<SavedFile[]> {
  const { rows } = await db.raw<{ rows: SavedFile[] }>(
    `select ${COLUMNS.join()} from saved_files where storage_id = ? and directory = any(?::text[])
     union select ${COLUMNS.join()} from saved_files where library_id = ? and modified_ms = any(?::bigint[])`,
    [storageId, [...directories], libraryId, [...times]],
  );
  return rows;
}

/** The files with the values of an item, wherever they were written. */
export async function savedFilesOf(db: Db, itemId: string): Promise<SavedFile[]> {
  return db('saved_files')
    .where({ item_id: itemId })
    .select(...COLUMNS);
}

/** Items of these files, and those that contain them, of which values were written. */
export async function savedItemsOf(db: Db, fileIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select distinct e.id from media_files f join items i on i.id = f.item_id, unnest(array[i.id, i.parent_id, i.grandparent_id]) as e(id)
     where f.id = any(?::uuid[]) and exists (select from saved_files s where s.item_id = e.id)`,
    [[...fileIds]],
  );
  return rows.map(({ id }) => id);
}

/** The bytes are no longer in their place. */
export async function dropSavedFile(db: Db, { storageId, directory, name }: SavedPlace, sha256: string): Promise<void> {
  await db('saved_files').where({ storage_id: storageId, directory, name, sha256 }).delete();
}

/** Whether a library has had these bytes written, under the name if one is given. */
export async function isSavedContent(
  db: Db,
  libraryId: string,
  { sha256, name }: { sha256: string; name?: string },
): Promise<boolean> {
  const found = await db('saved_files')
    .where({ library_id: libraryId, sha256, ...(name !== undefined && { name }) })
    .first('sha256');
  return found !== undefined;
}

interface Written extends SavedPlace {
  libraryId: string;
  sha256: string;
  sizeBytes: number;
  madeOf: string | undefined;
  /** The item whose values they are. */
  itemId: string | undefined;
}

/** Notes bytes that are about to be written, so that they are known even if the process ends right after. */
export async function noteSavedFile(db: Db, written: Written): Promise<void> {
  const { storageId, directory, name, libraryId, sha256, sizeBytes, madeOf, itemId } = written;
  await db('saved_files')
    .insert({
      ...{ storage_id: storageId, directory, name, library_id: libraryId, sha256, size_bytes: sizeBytes },
      made_of: madeOf ?? null,
      item_id: itemId ?? null,
    })
    .onConflict(['storage_id', 'directory', 'name', 'sha256'])
    .merge(['library_id', 'made_of', 'item_id']);
}

/** The bytes are in their place: rows of earlier bytes end. */
export async function confirmSavedFile(
  db: Db,
  { storageId, directory, name }: SavedPlace,
  { sha256, modifiedMs }: { sha256: string; modifiedMs: number },
): Promise<void> {
  const place = { storage_id: storageId, directory, name };
  await db('saved_files')
    .where({ ...place, sha256 })
    .update({ modified_ms: Math.trunc(modifiedMs), at: new Date() });
  await db('saved_files').where(place).whereNot({ sha256 }).delete();
}

/** The bytes were not written. */
export async function dropUnwritten(db: Db, { storageId, directory, name }: SavedPlace, sha256: string): Promise<void> {
  await db('saved_files').where({ storage_id: storageId, directory, name, sha256 }).whereNull('modified_ms').delete();
}
