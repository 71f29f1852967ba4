import { basename, extname } from 'node:path';
import { z } from 'zod';
import { getVisibleItem } from '#areas/items/public.ts';
import { type OpenFile, streamOf } from '#areas/storage/public.ts';
import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { Id } from '#kernel/schemas.ts';
import { streamMedia } from '#platform/media-bytes.ts';
import { metered } from '../metered.ts';
import { openToReceivers } from '../receivers.ts';
import { sendObject } from '../segments/segments.ts';
import { Trickplay } from '../streaming.schemas.ts';
import { directSession } from './direct-session.ts';
import { attachment, titleName } from './download-name.ts';
import { type Sendable, sendRanged } from './file-answer.ts';
import { isTimed, mediaType } from './media-types.ts';
import { openSource } from './sources.ts';
import { findSourceFile, nameOf, type SourceFile } from './sources.view.ts';
import { findTrickplay, trickplayKey } from './trickplay.store.ts';

const FileParams = z.object({ fileId: Id });
const ticket = z.string().max(2000).optional().describe('Cast ticket');

/** A file of an item that the caller may see, else 404. Unknown and hidden files cost the same work. */
async function getSource(call: Call, fileId: string): Promise<SourceFile> {
  const source = await findSourceFile(call.db, fileId);
  await getVisibleItem(call.db, call.who, source?.itemId ?? NOTHING);
  if (!source) throw notFound();
  return source;
}

/** An id that no item has. */
const NOTHING = '00000000-0000-0000-0000-000000000000';

async function openSendable(call: Call, source: SourceFile): Promise<OpenFile> {
  const file = await openSource(call, source);
  if (source.missing) throw new ApiError('MEDIA_NOT_PLAYABLE', 'The file does not exist', { reason: 'missing-file' });
  return file;
}

function sendable(
  call: Call,
  source: SourceFile,
  { file, session }: { file: OpenFile; session: string | undefined },
): Sendable {
  return {
    size: file.size,
    etag: `${file.size.toString(36)}-${Math.floor(file.modifiedAt.getTime()).toString(36)}-${source.id}`,
    modifiedAt: file.modifiedAt,
    type: mediaType(source.path),
    cacheControl: 'private, no-cache',
    read: async (range) => {
      const stream = file.blocks
        ? streamOf(file.blocks, range)
        : streamMedia(file.absolute, { ...range, folderId: source.folderId });
      return metered(call, stream, { itemId: source.itemId, session });
    },
  };
}

export const streamFile = defineEndpoint({
  operationId: 'streamFile',
  method: 'get',
  path: '/files/:fileId/stream',
  summary: 'Read the original bytes of a file',
  description:
    'Bytes are sent inline and unchanged, whole or in up to 8 ranges. The ETag is strong, so If-Range works across servers. Video and audio without `session` open a playback session, which counts towards the stream limit (429).',
  access: { permission: 'library:view' },
  castTicket: true,
  params: FileParams,
  query: z.object({ session: Id.optional().describe('Playback session'), ticket }),
  answer: bytes('application/octet-stream', 'video/mp4', 'video/x-matroska', 'audio/mpeg', 'image/jpeg'),
  errors: ['STREAM_LIMIT_REACHED', 'MEDIA_NOT_PLAYABLE', 'STORAGE_UNAVAILABLE', 'RANGE_NOT_SATISFIABLE'],

  async handle({ params, query }, call) {
    const source = await getSource(call, params.fileId);
    const file = await openSendable(call, source);
    const session = isTimed(source.path) ? await directSession(call, source, query.session) : undefined;
    openToReceivers(call, query.ticket);
    call.reply.header('Content-Disposition', 'inline');
    return sendRanged(call, sendable(call, source, { file, session }));
  },
});

export const downloadFile = defineEndpoint({
  operationId: 'downloadFile',
  method: 'get',
  path: '/files/:fileId/download',
  summary: 'Download a file under a readable name',
  description:
    'Same bytes, ranges and ETag as streamFile, as an attachment named after the title, or with `name=original` after the file. It opens no playback session and does not count towards the stream limit.',
  access: { permission: 'download:own' },
  params: FileParams,
  query: z.object({ name: z.enum(['original', 'title']).default('title') }),
  answer: bytes('application/octet-stream', 'video/mp4', 'video/x-matroska', 'audio/mpeg', 'image/jpeg'),
  errors: ['MEDIA_NOT_PLAYABLE', 'STORAGE_UNAVAILABLE', 'RANGE_NOT_SATISFIABLE'],

  async handle({ params, query }, call) {
    const source = await getSource(call, params.fileId);
    const file = await openSendable(call, source);
    const own = basename(source.path);
    const named = query.name === 'original' ? undefined : await nameOf(call.db, source.itemId);
    call.reply.header('Content-Disposition', attachment(named ? titleName(named, extname(own)) : own));
    return sendRanged(call, sendable(call, source, { file, session: undefined }));
  },
});

export const getTrickplay = defineEndpoint({
  operationId: 'getTrickplay',
  method: 'get',
  path: '/files/:fileId/trickplay',
  summary: 'Describe the preview thumbnails of a file',
  description:
    'Thumbnails are made by the analysis `previewThumbnails` of the library; this request makes none. A file without thumbnails is 404.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: FileParams,
  query: z.object({ ticket }),
  answer: json(200, Trickplay),

  async handle({ params, query }, call) {
    const source = await getSource(call, params.fileId);
    const found = await findTrickplay(call.db, source.id);
    if (!found) throw notFound();
    openToReceivers(call, query.ticket);
    return found;
  },
});

export const getTrickplaySheet = defineEndpoint({
  operationId: 'getTrickplaySheet',
  method: 'get',
  path: '/files/:fileId/trickplay/:sheet',
  summary: 'Read one sheet of preview thumbnails',
  description:
    'The sheet is <width>-<n>.webp with n from 0. Sheets may be cached for a week. An unknown width or number is 404.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: z.object({ fileId: Id, sheet: z.string().max(30) }),
  query: z.object({ ticket }),
  answer: bytes('image/webp'),

  async handle({ params, query }, call) {
    const source = await getSource(call, params.fileId);
    const [, width, n] = /^([1-9]\d{0,4})-(0|[1-9]\d{0,5})\.webp$/.exec(params.sheet) ?? [];
    const found = await findTrickplay(call.db, source.id);
    const made = found?.widths.find((one) => one.width === Number(width));
    if (!made || n === undefined || Number(n) >= made.sheets) throw notFound();
    openToReceivers(call, query.ticket);
    const key = trickplayKey(source.id, made.width, Number(n));
    const cacheControl = 'private, max-age=604800, immutable';
    return sendObject(call, { bucket: 'foyer-derived', key, type: 'image/webp', cacheControl });
  },
});
