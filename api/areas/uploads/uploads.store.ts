import type { Knex } from 'knex';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

export type UploadRow = Row<'uploads'>;

export const OPEN_STATES = ['receiving', 'verifying', 'importing'] as const;
export const KEPT_DAYS = 7;
const MIB = 1 << 20;
const CHUNK = 8 * MIB;
const LARGEST_CHUNK = 16 * MIB;
/** Parts that S3 takes for one object. */
const MOST_CHUNKS = 10_000;

/** Chunks of 8 MiB, or larger ones where there would be too many. */
export function planOf(sizeBytes: number): { chunkBytes: number; chunkCount: number } {
  const needed = Math.ceil(sizeBytes / MOST_CHUNKS / MIB) * MIB;
  const chunkBytes = Math.min(LARGEST_CHUNK, Math.max(CHUNK, needed));
  return { chunkBytes, chunkCount: Math.ceil(sizeBytes / chunkBytes) };
}

/** The size of one chunk. */
export function sizeOfChunk(row: Pick<UploadRow, 'size_bytes' | 'chunk_bytes' | 'chunk_count'>, index: number): number {
  const before = index * row.chunk_bytes;
  return Math.min(row.chunk_bytes, row.size_bytes - before);
}

/** Key of the object that the chunks become. */
export const keyOf = (id: string): string => `uploads/${id}`;

/** Uploads of an account, with the ranges of their stored chunks. */
export function selectUploads(db: Db, accountId: string): Knex.QueryBuilder {
  return db
    .from('uploads as u')
    .where({ 'u.account_id': accountId, 'u.forgotten': false })
    .select('u.*')
    .select(
      db.raw(`(select coalesce(json_agg(json_build_array(r.first, r.last) order by r.first), '[]') from (
        select min(c.index) as first, max(c.index) as last from (
          select index, index - row_number() over (order by index) as run from upload_chunks where upload_id = u.id
        ) c group by c.run) r) as received`),
      db.raw(`(select o.id from uploads o where o.library_id = u.library_id and o.id <> u.id and u.announced_sha256 is not null
        and o.announced_sha256 = u.announced_sha256 and o.ended_at is null and o.created_at < u.created_at limit 1) as duplicate_of`),
    );
}

export interface UploadWithChunks extends UploadRow {
  received: [number, number][];
  duplicate_of: string | null;
}

export async function findUploads(db: Db, accountId: string, ids: readonly string[]): Promise<UploadWithChunks[]> {
  return selectUploads(db, accountId).whereRaw('u.id = any(?::uuid[])', [[...ids]]) as unknown as Promise<
    UploadWithChunks[]
  >;
}

export interface InFlight {
  count: number;
  bytes: number;
}

/** Open uploads of an account. */
export async function inFlightOf(db: Db, accountId: string): Promise<InFlight> {
  const [found] = await rowsOf<{ count: number; bytes: number }>(
    db,
    `select count(*)::int as count, coalesce(sum(size_bytes), 0)::bigint as bytes from uploads where account_id = ? and ended_at is null`,
    [accountId],
  );
  return { count: found?.count ?? 0, bytes: Number(found?.bytes ?? 0) };
}

/** Bytes of the items that an account uploaded. */
export async function storedBytesOf(db: Db, accountId: string): Promise<number> {
  const [found] = await rowsOf<{ bytes: number }>(
    db,
    'select coalesce(sum(size_bytes), 0)::bigint as bytes from items where added_by = ?',
    [accountId],
  );
  return Number(found?.bytes ?? 0);
}

/** Ends an upload that has not ended; false when it had. */
export async function endUpload(
  db: Db,
  id: string,
  end: { state: UploadRow['state']; reason?: string; itemId?: string },
): Promise<boolean> {
  const changed = await db('uploads')
    .where({ id })
    .whereNull('ended_at')
    .update({
      state: end.state,
      error_reason: end.reason ?? null,
      item_id: end.itemId ?? null,
      ended_at: db.fn.now(),
      updated_at: db.fn.now(),
    });
  return changed > 0;
}

/** Takes an ended upload out of the list; its hash still finds duplicates. */
export async function forgetUpload(db: Db, id: string): Promise<void> {
  await db('uploads').where({ id }).update({ forgotten: true });
}

/** Notes the hash and the media type of the joined chunks. */
export async function noteArrival(db: Db, id: string, found: { sha256: string; mime: string }): Promise<void> {
  await db('uploads').where({ id }).update(found);
}

/**
 * Lets one upload of a hash and library be imported at a time, so that two of them become one item. `taken` is another's turn,
 * `ended` an upload that was cancelled.
 */
export async function takeTurn(db: Db, row: UploadRow): Promise<'own' | 'taken' | 'ended'> {
  return db.transaction(async (inside) => {
    await inside.raw('select pg_advisory_xact_lock(hashtextextended(?, 24))', [`${row.library_id} ${row.sha256}`]);
    const other = await inside('uploads')
      .where({ library_id: row.library_id, sha256: row.sha256, state: 'importing' })
      .whereNot({ id: row.id })
      .first('id');
    if (other) return 'taken';
    const begun = await inside('uploads').where({ id: row.id }).whereNull('ended_at').update({ state: 'importing' });
    return begun > 0 ? 'own' : 'ended';
  });
}

/**
 * Notes where the file will appear; false when the upload has ended. While it is `writing` its bytes still go to another name, and it
 * can be cancelled until `noteAppearing`.
 */
export async function notePlace(
  db: Db,
  id: string,
  place: { folder_id: string; path: string; writing: boolean },
): Promise<boolean> {
  const noted = await db('uploads')
    .where({ id })
    .whereNull('ended_at')
    .update({ ...place, placed: false, updated_at: db.fn.now() });
  return noted > 0;
}

/** The file gets its name now, and the upload can no longer be cancelled. False when it has ended. */
export async function noteAppearing(db: Db, id: string): Promise<boolean> {
  const noted = await db('uploads')
    .where({ id })
    .whereNull('ended_at')
    .update({ writing: false, updated_at: db.fn.now() });
  return noted > 0;
}

/** The file has its name: from now on the file at that path is the upload's, also when the storage changes it. */
export async function notePlaced(db: Db, id: string): Promise<void> {
  await db('uploads').where({ id, placed: false }).update({ placed: true });
}

/** Counts a try after which an available storage did not hold the bytes that it got; returns the count. */
export async function noteChanged(db: Db, id: string): Promise<number> {
  const [row] = await db('uploads')
    .where({ id })
    .update({ changed_tries: db.raw('changed_tries + 1'), placed: false, gone_since: null, error_reason: null })
    .returning('changed_tries');
  return row?.changed_tries ?? 0;
}

/** A worker stopped before the file got its name: the upload can be cancelled again. */
export async function noteUnnamed(db: Db, id: string): Promise<void> {
  await db('uploads').where({ id, writing: false }).whereNotNull('path').update({ writing: true });
}

/** Whether the upload has ended, such as by its person. */
export async function hasEnded(db: Db, id: string): Promise<boolean> {
  return (await db('uploads').where({ id }).whereNull('ended_at').first('id')) === undefined;
}

/** The storage holds no part of the ended upload any longer. */
export async function noteTidied(db: Db, id: string): Promise<void> {
  await db('uploads').where({ id }).update({ writing: false, placing_parts: null });
}

/** Notes the id under which a storage holds the parts of the file until it is whole. */
export async function noteParts(db: Db, id: string, parts: string | null): Promise<void> {
  await db('uploads').where({ id }).update({ placing_parts: parts });
}

/** The sweep queues uploads again that look forgotten; this one is being written. */
export async function noteProgress(db: Db, id: string): Promise<void> {
  await db('uploads').where({ id }).update({ updated_at: db.fn.now() });
}

/** Notes since when the storage is unavailable, which the list shows. */
export async function noteStorageGone(db: Db, { id, gone_since: since }: UploadRow): Promise<void> {
  await db('uploads')
    .where({ id })
    .update({ gone_since: since ?? new Date(), error_reason: 'storage-away' });
}

/** Deletes the rows of uploads that ended seven days ago, except the hashes of items that are there. */
export async function forgetEnded(db: Db): Promise<void> {
  await db('uploads')
    .whereNotNull('ended_at')
    .whereNull('item_id')
    .whereRaw(`ended_at < now() - interval '${KEPT_DAYS} days'`)
    .delete();
}

/** The person knows about all uploads of the account that have ended. */
export async function noteNotified(db: Db, accountId: string): Promise<void> {
  await db('uploads')
    .where({ account_id: accountId, notified: false })
    .whereNotNull('ended_at')
    .update({ notified: true });
}
