import { createHash } from 'node:crypto';
import { z } from 'zod';
import { may } from '#identity/principal.ts';
import { bytes, type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { Id, IdParams } from '#kernel/schemas.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import { countSent } from '../metered.ts';
import { openToReceivers } from '../receivers.ts';
import { renditionOf, type StreamPlan } from '../segments/plan.ts';
import { masterPlaylist, mediaPlaylist } from '../segments/playlists.ts';
import { sendSegment } from '../segments/segments.ts';
import { TranscodeSession } from '../streaming.schemas.ts';
import { sendTextSegment } from '../text/text-segments.ts';
import { announceStop } from './offers.store.ts';
import { getManagedSession, getOwnSession } from './rights.ts';
import { toTranscodeSession } from './session.view.ts';
import { stopSession } from './sessions.store.ts';

const PLAYLIST = 'application/vnd.apple.mpegurl';
const TicketQuery = z.object({ ticket: z.string().max(2000).optional().describe('Cast ticket') });
const VersionQuery = TicketQuery.extend({ v: z.string().max(32).optional().describe('Version of a subtitle') });
const RenditionParams = z.object({ id: Id, rendition: z.string().max(4) });

/** Version of the correction of a subtitle rendition, which its segments carry in their addresses. */
async function correctionOf({ db }: Call, plan: StreamPlan, rendition: string): Promise<string | undefined> {
  const track = plan.subtitles.find(({ id }) => id === rendition);
  return track && (await findSync(db, track.streamId))?.version;
}

export const getTranscodeSession = defineEndpoint({
  operationId: 'getTranscodeSession',
  method: 'get',
  path: '/stream/:id',
  summary: 'Read a transcode session',
  description:
    "Returns the caller's own session, or any with `session:manage`; `worker` needs `session:manage`. A stopped session can be read for one hour.",
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, TranscodeSession),

  async handle({ params }, call) {
    const row = await getManagedSession(call, params.id);
    return toTranscodeSession(row, call.deps.objects, may(call.who, 'session:manage'));
  },
});

export const stopTranscodeSession = defineEndpoint({
  operationId: 'stopTranscodeSession',
  method: 'delete',
  path: '/stream/:id',
  summary: 'Stop a transcode session',
  description:
    'Frees the worker and the segments; the playback session continues. The request is idempotent. Later segment requests are 404.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const row = await getManagedSession(call, params.id);
    await stopSession(call.db, row.id);
    call.afterCommit(() => announceStop(call.deps.redis, row.id));
  },
});

export const getStreamMaster = defineEndpoint({
  operationId: 'getStreamMaster',
  method: 'get',
  path: '/stream/:id/master.m3u8',
  summary: 'Read the HLS master playlist',
  description:
    'Lists the video variants, the audio renditions and the text subtitles of the session; EXT-X-START names the position to start from. A cast ticket in the query is repeated in every address. The playlist must not be cached.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: IdParams,
  query: TicketQuery.extend({ texts: z.string().max(32).optional().describe('Revision of the subtitles') }),
  answer: bytes(PLAYLIST),

  async handle({ params, query }, call) {
    const { plan } = await getOwnSession(call, params.id);
    openToReceivers(call, query.ticket);
    call.reply.header('Cache-Control', 'no-store');
    const text = masterPlaylist(plan, { ticket: query.ticket });
    return { body: text, type: PLAYLIST, length: Buffer.byteLength(text) };
  },
});

export const getStreamPlaylist = defineEndpoint({
  operationId: 'getStreamPlaylist',
  method: 'get',
  path: '/stream/:id/:rendition/index.m3u8',
  summary: 'Read the playlist of one rendition',
  description:
    'The playlist is complete from the first response, because segment boundaries are planned before encoding. It has an ETag. An unknown rendition is 404.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: RenditionParams,
  query: TicketQuery,
  answer: bytes(PLAYLIST),

  async handle({ params, query }, call) {
    const { plan } = await getOwnSession(call, params.id);
    if (!renditionOf(plan, params.rendition)) throw notFound();
    openToReceivers(call, query.ticket);
    const version = await correctionOf(call, plan, params.rendition);
    const text = mediaPlaylist(plan, params.rendition, { ticket: query.ticket, version });
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    call.reply.header('ETag', etag);
    call.reply.header('Cache-Control', 'private, no-cache');
    if (knowsEtag(call.headers['if-none-match'], etag)) {
      call.reply.status(304);
      return { body: null };
    }
    return { body: text, type: PLAYLIST, length: Buffer.byteLength(text) };
  },
});

export const getStreamSegment = defineEndpoint({
  operationId: 'getStreamSegment',
  method: 'get',
  path: '/stream/:id/:rendition/segments/:segment',
  summary: 'Read a segment',
  description:
    'The segment is init.mp4, or <n>.m4s, <n>.ts or <n>.vtt with n from 0. A segment that does not exist yet is awaited for up to 30 seconds; 503 carries `retryAfterSec` when no worker is available. After 423 the same request succeeds once the storage is available again.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: RenditionParams.extend({ segment: z.string().max(20) }),
  query: VersionQuery,
  answer: bytes('video/mp4', 'video/mp2t', 'audio/mp4', 'text/vtt'),
  errors: ['TRANSCODE_FAILED', 'TRANSCODE_LIMIT_REACHED', 'STORAGE_UNAVAILABLE', 'RANGE_NOT_SATISFIABLE'],

  async handle({ params, query }, call) {
    const row = await getOwnSession(call, params.id);
    const kind = renditionOf(row.plan, params.rendition);
    if (!kind) throw notFound();
    openToReceivers(call, query.ticket);
    const requested = { rendition: params.rendition, name: params.segment, version: query.v };
    const sent =
      kind === 'subtitle' ? await sendTextSegment(call, row, requested) : await sendSegment(call, row, requested);
    return countSent(call, row.playback_session_id, sent);
  },
});
