import type { Call } from '#kernel/endpoint.ts';
import { type ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import type { StreamedBody } from '#kernel/streamed-body.ts';
import { type PartedObject, PartRefused } from '#platform/object-parts.ts';
import { inPlace } from './places.ts';
import { requireTarget } from './target.ts';
import { keyOf, sizeOfChunk, type UploadRow } from './uploads.store.ts';

const BUCKET = 'foyer-uploads';

interface Chunk {
  id: string;
  index: number;
  body: StreamedBody;
}

/** Sends a chunk on to the object store, and counts it once the store acknowledged it. A refused one is read to its end. */
export async function storeChunk(call: Call, chunk: Chunk): Promise<void> {
  try {
    await store(call, chunk);
  } catch (error) {
    await chunk.body.drain().catch(() => undefined); // the sender is gone
    throw error;
  }
}

async function store(call: Call, chunk: Chunk): Promise<void> {
  const { row, known } = await receivingUpload(call, chunk);
  if (chunk.index >= row.chunk_count) throw notFound();
  const sha256 = announcedHash(call);
  if (known === sha256) return chunk.body.drain();
  const size = sizeOfChunk(row, chunk.index);
  if (chunk.body.length !== undefined && chunk.body.length !== size) throw chunkSize(size);
  await requireTarget(call, row.library_id ?? '', undefined);
  if (known) await call.transact((inside) => withdraw(inside, { id: row.id, index: chunk.index }));
  const { redis } = call.deps;
  const etag = await inPlace(redis, { uploadId: row.id, accountId: call.who.accountId }, () =>
    send(call, { row, size, sha256, ...chunk }),
  );
  await call.transact((inside) => count(inside, { id: row.id, index: chunk.index, sha256, etag }));
}

const chunkSize = (size: number): ApiError<'VALIDATION_FAILED'> =>
  invalid(['body'], 'chunk_size', `this chunk has ${size} bytes`);

/** The caller's own upload while it takes chunks, and the hash of the chunk if it is stored. Throws 404 for another's, 409 `upload-ended`. */
async function receivingUpload(
  { db, who }: Call,
  { id, index }: Chunk,
): Promise<{ row: UploadRow; known: string | undefined }> {
  const [row, chunk] = await Promise.all([
    db('uploads').where({ id, account_id: who.accountId }).first(),
    db('upload_chunks').where({ upload_id: id, index }).first('sha256'),
  ]);
  if (!row) throw notFound();
  if (row.state !== 'receiving') throw ended(row);
  return { row, known: chunk?.sha256 };
}

export const ended = ({ state }: Pick<UploadRow, 'state'>): ApiError<'CONFLICT'> =>
  conflict('upload-ended', 'The upload takes no more chunks', { state });

function announcedHash({ headers }: Call): string {
  const given = headers['x-chunk-sha256'];
  if (typeof given === 'string' && /^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase();
  throw invalid(['headers', 'x-chunk-sha256'], 'checksum', '64 hexadecimal digits, the SHA-256 of the chunk');
}

async function send(
  call: Call,
  { row, index, size, sha256, body }: Chunk & { row: UploadRow; size: number; sha256: string },
): Promise<string> {
  const object = await partedObject(call, row);
  try {
    return await call.deps.objects.putPart(object, { number: index + 1, size, sha256, body: body.stream() });
  } catch (error) {
    if (!(error instanceof PartRefused)) throw error;
    throw error.fault === 'size' ? chunkSize(size) : invalid(['body'], 'checksum', 'the bytes have another SHA-256');
  }
}

/** The object of the upload in the store, begun with the first chunk that arrives. */
async function partedObject({ db, deps: { objects } }: Call, row: UploadRow): Promise<PartedObject> {
  const key = keyOf(row.id);
  if (row.parts_id) return { bucket: BUCKET, key, id: row.parts_id };
  const begun = await objects.beginParts(BUCKET, key);
  const taken = await db('uploads').where({ id: row.id }).whereNull('parts_id').update({ parts_id: begun });
  if (taken > 0) return { bucket: BUCKET, key, id: begun };
  await objects.dropParts({ bucket: BUCKET, key, id: begun }).catch(() => undefined); // a sweep finds it
  const now = await db('uploads').where({ id: row.id }).first('parts_id');
  if (!now?.parts_id) throw notFound();
  return { bucket: BUCKET, key, id: now.parts_id };
}

/**
 * A chunk counts no longer once another takes its place: the upload would otherwise become whole in between, and the store would
 * not join a part of another ETag.
 */
async function withdraw({ db }: Call, { id, index }: { id: string; index: number }): Promise<void> {
  const row = await db('uploads').where({ id }).forUpdate().first('state');
  if (!row) throw notFound();
  if (row.state !== 'receiving') throw ended(row);
  await db('upload_chunks').where({ upload_id: id, index }).delete();
}

/** Counts a stored chunk; the last one queues the rest of the work in the same transaction. */
async function count(
  call: Call,
  { id, index, sha256, etag }: { id: string; index: number; sha256: string; etag: string },
): Promise<void> {
  const { db, who } = call;
  const row = await db('uploads').where({ id }).forUpdate().first();
  if (!row) throw notFound();
  if (row.state !== 'receiving') throw ended(row);
  await db('upload_chunks').insert({ upload_id: id, index, sha256, etag }).onConflict(['upload_id', 'index']).merge();
  const stored = db('upload_chunks').where({ upload_id: id }).count();
  const state = db.raw(`case when (?) = chunk_count then 'verifying' else state end`, [stored]);
  const [now] = await db('uploads').where({ id }).update({ updated_at: db.fn.now(), state }).returning('state');
  if (now?.state !== 'verifying') return;
  await call.enqueue('upload.finish', { uploadId: id }, { key: `upload.finish:${id}`, byAccountId: who.accountId });
}
