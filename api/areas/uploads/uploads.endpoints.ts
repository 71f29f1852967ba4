import type { Knex } from 'knex';
import type { z } from 'zod';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { streamedBody } from '#kernel/streamed-body.ts';
import { cancel } from './cancel.ts';
import { storeChunk } from './chunk.ts';
import { createFor } from './create.ts';
import { ChunkParams, CreateUploads, Upload, UploadAnswers, UploadsQuery, uploadSorts } from './uploads.schemas.ts';
import { findUploads, selectUploads, type UploadWithChunks } from './uploads.store.ts';
import { toUpload } from './uploads.view.ts';

const uploads = { permission: 'photo:upload' } as const;
/** The largest chunk, in bytes. */
const CHUNK_BYTES = 16 << 20;

export const createUploads = defineEndpoint({
  operationId: 'createUploads',
  method: 'post',
  path: '/uploads',
  summary: 'Announce files to upload',
  description:
    'One answer for each file, in order. `created` has a plan of chunks; `resumed` is an open upload of the same file with the chunks that are stored; `duplicate` is in the library and needs no sending; `refused` says why. `checkOnly` stores nothing. A library without a writable folder is 409 `no-upload-folder`, or `managed-by-resource` when a resource declares its folders.',
  access: uploads,
  body: CreateUploads,
  answer: json(200, UploadAnswers),
  errors: ['NOT_FOUND', 'CONFLICT'],

  async handle({ body }, call) {
    return { items: await createFor(call, body) };
  },
});

export const listUploads = defineEndpoint({
  operationId: 'listUploads',
  method: 'get',
  path: '/uploads',
  summary: 'List your uploads',
  description:
    'Open uploads, and those that ended within seven days. `received` has the chunks that are stored; all others are to be sent.',
  access: uploads,
  query: UploadsQuery,
  answer: page(Upload),

  async handle({ query }, call) {
    const { cursor, limit, sort, ...filter } = query;
    return pageOf<UploadWithChunks, Upload>(call.db, listed(call, filter), {
      keys: call.deps.keys,
      terms: parseSort(sort, uploadSorts, '-createdAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listUploads', call.who.accountId, filter, filter.device && call.client.id]),
      idColumn: 'u.id',
      toItem: toUpload,
    });
  },
});

type Filter = Omit<z.output<typeof UploadsQuery>, 'cursor' | 'limit' | 'sort'>;

function listed({ db, who, client }: Call, { ids, libraryId, state, device }: Filter): Knex.QueryBuilder {
  const rows = selectUploads(db, who.accountId).whereRaw(
    `(u.ended_at is null or u.ended_at > now() - interval '7 days')`,
  );
  if (ids) void rows.whereRaw('u.id = any(?::uuid[])', [ids]);
  if (libraryId) void rows.where('u.library_id', libraryId);
  if (state) void rows.whereIn('u.state', state);
  if (device) void rows.where('u.client_id', client.id ?? '');
  return rows;
}

export const putUploadChunk = defineEndpoint({
  operationId: 'putUploadChunk',
  method: 'put',
  path: '/uploads/:id/chunks/:index',
  summary: 'Send a chunk of a file',
  description:
    'The bytes of one chunk, with their SHA-256 in `X-Chunk-Sha256`. Each chunk has exactly `chunkBytes`, the last one the rest. Chunks may come in any order, at most 6 of a file and 24 of an account at once (429). Sending one again replaces it. The last chunk queues the import. 400 `chunk_size` or `checksum` stores nothing; 409 `upload-ended` after the last one.',
  access: uploads,
  params: ChunkParams,
  body: streamedBody,
  bodyMedia: ['application/octet-stream'],
  streamed: true,
  maxBodyBytes: CHUNK_BYTES,
  answer: json(200, Upload),
  errors: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED', 'PAYLOAD_TOO_LARGE'],
  emits: ['item.added', 'notification.created'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    await storeChunk(call, { ...params, body });
    const [row] = await findUploads(call.db, call.who.accountId, [params.id]);
    if (!row) throw notFound();
    return toUpload(row);
  },
});

export const cancelUpload = defineEndpoint({
  operationId: 'cancelUpload',
  method: 'delete',
  path: '/uploads/:id',
  summary: 'Cancel an upload',
  description:
    'Deletes the chunks and frees the quota at once. An upload that has ended is forgotten. 409 `upload-ended` once the file appears in its folder.',
  access: uploads,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    await cancel(call, params.id);
  },
});
