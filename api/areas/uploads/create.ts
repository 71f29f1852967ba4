import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { newId } from '#platform/ids.ts';
import { visibleDuplicates } from './duplicates.ts';
import { cleanName, kindOfName } from './names.ts';
import { requireTarget } from './target.ts';
import type { AnnouncedFile, CreateUploads, Refusal, UploadAnswer } from './uploads.schemas.ts';
import { findUploads, inFlightOf, OPEN_STATES, planOf, storedBytesOf, type UploadRow } from './uploads.store.ts';
import { toUpload } from './uploads.view.ts';

const MOST_OPEN = 5000;
const MOST_BYTES = 200 * 2 ** 30;

type Draft = z.output<typeof CreateUploads>;

/** One answer for each file, in order. */
export async function createFor(call: Call, draft: Draft): Promise<UploadAnswer[]> {
  const { db, who } = call;
  await requireTarget(call, draft.libraryId, draft.albumId);
  // Serial for one account, so that two equal calls make one set of uploads and the quota holds.
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 23))', [who.accountId]);
  const hashes = draft.files.flatMap(({ sha256 }) => (sha256 ? [sha256] : []));
  const duplicates = await visibleDuplicates(db, { who, libraryId: draft.libraryId, hashes });
  const open = await openUploads(call, draft);
  const room = await roomOf(call);
  const made: UploadRow[] = [];
  const plans = draft.files.map((file, index): Plan => {
    const itemId = file.sha256 && duplicates.get(file.sha256);
    if (itemId) return { answer: { index, outcome: 'duplicate', itemId } };
    const resumed = open.find((row) => isSame(row, file));
    if (resumed) return { answer: { index, outcome: 'resumed' }, id: resumed.id, row: resumed };
    const reason = refusalOf(call, file, room);
    if (reason) return { answer: { index, outcome: 'refused', reason } };
    const row = rowOf(call, draft, file);
    room.take(file.sizeBytes);
    open.push(row);
    made.push(row);
    return { answer: { index, outcome: 'created' }, id: row.id };
  });
  if (draft.checkOnly) return plans.map(({ answer }) => answer);
  if (made.length > 0) await db('uploads').insert(made);
  for (const { row } of plans) if (row?.state === 'failed') await tryAgain(call, row.id);
  const ids = plans.flatMap(({ id }) => (id ? [id] : []));
  const rows = new Map((await findUploads(db, who.accountId, ids)).map((row) => [row.id, row]));
  return plans.map(({ answer, id }) => {
    const row = id && rows.get(id);
    return row ? { ...answer, upload: toUpload(row) } : answer;
  });
}

/** A stored file for which there was no space. */
async function tryAgain({ db, who, enqueue }: Call, id: string): Promise<void> {
  await db('uploads')
    .where({ id })
    .update({ state: 'verifying', error_reason: null, ended_at: null, notified: false, updated_at: db.fn.now() });
  await enqueue('upload.finish', { uploadId: id }, { key: `upload.finish:${id}`, byAccountId: who.accountId });
}

/** The caller's open uploads into the library that files of the request may continue. */
async function openUploads({ db, who }: Call, { libraryId, files }: Draft): Promise<UploadRow[]> {
  return db('uploads')
    .where({ account_id: who.accountId, library_id: libraryId })
    .where((open) => open.whereIn('state', [...OPEN_STATES]).orWhere({ state: 'failed', error_reason: 'storage-full' }))
    .where({ forgotten: false })
    .whereRaw('name = any(?::text[])', [files.map(({ name }) => name)])
    .orderBy('created_at');
}

function isSame(row: UploadRow, file: AnnouncedFile): boolean {
  if (row.name !== file.name || row.size_bytes !== file.sizeBytes) return false;
  if (file.sha256 && row.announced_sha256) return file.sha256 === row.announced_sha256;
  return file.clientFileId !== undefined && file.clientFileId === row.client_file_id;
}

interface Plan {
  answer: UploadAnswer;
  /** Of its upload. */
  id?: string;
  /** The upload that it continues. */
  row?: UploadRow;
}

interface Room {
  fits: (bytes: number) => boolean;
  take: (bytes: number) => void;
}

/** Space that the caller's limits leave. */
async function roomOf({ db, who }: Call): Promise<Room> {
  let { count, bytes } = await inFlightOf(db, who.accountId);
  const quota = who.limits.uploadQuotaBytes;
  const stored = quota === undefined ? 0 : await storedBytesOf(db, who.accountId);
  return {
    fits: (size) =>
      count < MOST_OPEN && bytes + size <= MOST_BYTES && (quota === undefined || stored + bytes + size <= quota),
    take(size) {
      count += 1;
      bytes += size;
    },
  };
}

function refusalOf({ deps }: Call, file: AnnouncedFile, room: Room): Refusal | undefined {
  if (!kindOfName(file.name)) return file.name.includes('.') ? 'unsupported-format' : 'not-a-photo';
  if (!kindOfName(cleanName(file.name) ?? '')) return 'bad-name';
  if (file.sizeBytes > deps.settings.get('uploads.maxFileBytes')) return 'too-large';
  return room.fits(file.sizeBytes) ? undefined : 'quota';
}

function rowOf({ who, client }: Call, draft: Draft, file: AnnouncedFile): UploadRow {
  const { chunkBytes, chunkCount } = planOf(file.sizeBytes);
  const now = new Date();
  return {
    id: newId(),
    account_id: who.accountId,
    library_id: draft.libraryId,
    album_id: draft.albumId ?? null,
    client_id: client.id ?? null,
    device_name: client.name ?? null,
    name: file.name,
    size_bytes: file.sizeBytes,
    chunk_bytes: chunkBytes,
    chunk_count: chunkCount,
    mime: null,
    announced_sha256: file.sha256 ?? null,
    sha256: null,
    modified_at: file.modifiedAt ? new Date(file.modifiedAt) : null,
    taken_at: file.takenAt ? new Date(file.takenAt) : null,
    pair_key: file.pairKey ?? null,
    client_file_id: file.clientFileId ?? null,
    state: 'receiving',
    error_reason: null,
    item_id: null,
    parts_id: null,
    folder_id: null,
    placing_parts: null,
    placed: false,
    changed_tries: 0,
    writing: false,
    path: null,
    gone_since: null,
    notified: false,
    forgotten: false,
    created_at: now,
    updated_at: now,
    ended_at: null,
  };
}
