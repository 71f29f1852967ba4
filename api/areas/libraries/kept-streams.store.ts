import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

/** First stream number of texts that the server keeps; sidecar files begin at 1000. */
const FIRST = 5000;

export interface KeptStream {
  fileId: string;
  codec: 'subrip' | 'webvtt' | 'ass';
  /** BCP 47. */
  language: string;
  title?: string;
  forced: boolean;
  hearingImpaired: boolean;
}

/** Adds a subtitle track whose text the server keeps, after those that the file has. Returns the id of the stream. */
export async function insertKeptStream(db: Db, stream: KeptStream): Promise<string> {
  await db('media_files').where({ id: stream.fileId }).forNoKeyUpdate().first('id');
  const last = await db('media_streams').where({ file_id: stream.fileId, kept: true }).max({ index: 'stream_index' });
  const id = newId();
  await db('media_streams').insert({
    ...{ id, file_id: stream.fileId, stream_index: Math.max(Number(last[0]?.index ?? 0) + 1, FIRST) },
    ...{ kind: 'subtitle', codec: stream.codec, language: stream.language, title: stream.title ?? null },
    ...{ forced: stream.forced, hearing_impaired: stream.hearingImpaired, kept: true },
  });
  return id;
}

/** Removes a track whose text the server keeps, with the text's row. */
export async function deleteKeptStream(db: Db, id: string): Promise<boolean> {
  return (await db('media_streams').where({ id, kept: true }).delete()) > 0;
}

/**
 * Marks tracks inside of a file by their content, where no flag of the file does; none of a file that was replaced since it
 * was read. Returns how many. In a transaction, so that no scan replaces the file meanwhile.
 */
export async function markTracks(
  db: Db,
  { id, sizeBytes, modifiedMs }: { id: string; sizeBytes: number; modifiedMs: number },
  { indexes, as }: { indexes: readonly number[]; as: 'forced' | 'hearing_impaired' },
): Promise<number> {
  const version = { id, size_bytes: sizeBytes, modified_ms: modifiedMs };
  if (!(await db('media_files').where(version).forShare().first('id'))) return 0;
  return db('media_streams')
    .where({ file_id: id, [as]: false, external_path: null, kept: false })
    .whereIn('stream_index', [...indexes])
    .update({ [as]: true });
}

export interface Sidecar {
  fileId: string;
  /** Inside the storage. */
  path: string;
  codec: 'subrip' | 'webvtt' | 'ass';
  language: string;
  title: string | undefined;
  forced: boolean;
  hearingImpaired: boolean;
  size: number;
  modifiedMs: number;
}

/** First stream number of sidecars in a file. */
const FIRST_SIDECAR = 1000;

/**
 * The stream of a file that was just written next to the film; a scan knows it by its path, size and time. When a scan
 * was faster, that one. Returns its id.
 */
export async function insertSidecar(db: Db, file: Sidecar): Promise<string> {
  await db('media_files').where({ id: file.fileId }).forNoKeyUpdate().first('id');
  const known = await db('media_streams').where({ file_id: file.fileId, external_path: file.path }).first('id');
  if (known) return known.id;
  const [last] = await db('media_streams')
    .where({ file_id: file.fileId })
    .whereNotNull('external_path')
    .max({ index: 'stream_index' });
  const id = newId();
  await db('media_streams').insert({
    ...{ id, file_id: file.fileId, stream_index: Math.max(Number(last?.index ?? 0) + 1, FIRST_SIDECAR) },
    ...{ kind: 'subtitle', codec: file.codec, language: file.language, title: file.title ?? null },
    ...{ forced: file.forced, hearing_impaired: file.hearingImpaired, external_path: file.path },
    ...{ external_size: file.size, external_modified_ms: file.modifiedMs },
  });
  return id;
}
