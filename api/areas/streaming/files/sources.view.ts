import type { Wanted } from '#areas/storage/public.ts';
import type { Db } from '#platform/db.ts';
import { decodeKeyframes, type ProbedFile } from '#platform/media.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Named } from './download-name.ts';

/** A media file as Streaming reads it. */
export interface SourceFile {
  id: string;
  itemId: string;
  libraryId: string;
  storageId: string;
  folderId: string;
  /** Inside the storage. */
  path: string;
  sizeBytes: number;
  modifiedMs: number;
  durationMs: number;
  missing: boolean;
  probe: ProbedFile | null;
}

/** With the keyframes, which are large. */
export interface FileSource extends SourceFile {
  keyframes: number[] | undefined;
}

const FILE_COLUMNS = [
  ...(['id', 'item_id', 'library_id', 'storage_id', 'folder_id', 'path'] as const),
  ...(['size_bytes', 'modified_ms', 'duration_ms', 'missing_since', 'probe'] as const),
];
const COLUMNS = [...FILE_COLUMNS, 'keyframes' as const];

type FileRow = Pick<Row<'media_files'>, (typeof FILE_COLUMNS)[number]>;
type KeyframeRow = Pick<Row<'media_files'>, (typeof COLUMNS)[number]>;

/** Without keyframes, for range requests. */
export async function findSourceFile(db: Db, fileId: string): Promise<SourceFile | undefined> {
  const row = await db('media_files').where({ id: fileId }).first(FILE_COLUMNS);
  return row && toSourceFile(row);
}

export async function findSource(db: Db, fileId: string): Promise<FileSource | undefined> {
  const row = await db('media_files').where({ id: fileId }).first(COLUMNS);
  return row && toSource(row);
}

/** The present file of an item, best edition first. */
export async function findItemSource(db: Db, itemId: string): Promise<FileSource | undefined> {
  const row = await db('media_files')
    .where({ item_id: itemId, missing_since: null, ignored: false })
    .orderBy(['edition_rank', 'part', 'id'])
    .first(COLUMNS);
  return row && toSource(row);
}

type PlaceRow = Pick<Row<'media_files'>, 'id' | 'storage_id' | 'folder_id' | 'path' | 'size_bytes' | 'modified_ms'>;

function toPlace(row: PlaceRow): Wanted {
  return {
    storageId: row.storage_id,
    folderId: row.folder_id,
    path: row.path,
    sizeBytes: row.size_bytes,
    modifiedMs: row.modified_ms,
  };
}

/** Places of files, by id. */
export async function findPlaces(db: Db, fileIds: readonly string[]): Promise<Map<string, Wanted>> {
  const rows = await db('media_files')
    .whereIn('id', fileIds)
    .select('id', 'storage_id', 'folder_id', 'path', 'size_bytes', 'modified_ms');
  return new Map(rows.map((row) => [row.id, toPlace(row)]));
}

/** Place of a sidecar file. A file that is no track has no size to verify. */
export async function findTrackPlace(
  db: Db,
  { fileId, path }: { fileId: string; path: string },
): Promise<Wanted | undefined> {
  const film = (await findPlaces(db, [fileId])).get(fileId);
  const track = await db('media_streams')
    .where({ file_id: fileId, external_path: path })
    .first<{ size: number; time: number } | undefined>('external_size as size', 'external_modified_ms as time');
  return film && { ...film, path, sizeBytes: track?.size ?? -1, modifiedMs: track?.time ?? 0 };
}

/** Version of the file's bytes; derived objects are stored under it. */
export function versionOf({ sizeBytes, modifiedMs }: Pick<FileSource, 'sizeBytes' | 'modifiedMs'>): string {
  return `${sizeBytes}-${Math.floor(modifiedMs)}`;
}

function toSource(row: KeyframeRow): FileSource {
  return { ...toSourceFile(row), keyframes: row.keyframes ? decodeKeyframes(row.keyframes) : undefined };
}

function toSourceFile(row: FileRow): SourceFile {
  return {
    id: row.id,
    itemId: row.item_id,
    libraryId: row.library_id,
    storageId: row.storage_id,
    folderId: row.folder_id,
    path: row.path,
    sizeBytes: row.size_bytes,
    modifiedMs: row.modified_ms,
    durationMs: row.duration_ms ?? 0,
    missing: row.missing_since !== null,
    probe: row.probe,
  };
}

interface NameRow extends Pick<Row<'items'>, 'type' | 'title' | 'year'> {
  show: string | null;
  season: number | null;
  number: number | null;
}

/** The facts that a download of the item is named after. */
export async function nameOf(db: Db, itemId: string): Promise<Named | undefined> {
  const row = (await db('items as i')
    .leftJoin('items as s', 's.id', 'i.grandparent_id')
    .where('i.id', itemId)
    .first('i.type', 'i.title', 'i.year', 's.title as show', 'i.parent_index as season', 'i.index_number as number')) as
    | NameRow
    | undefined;
  return row && { ...row, showTitle: row.show };
}
