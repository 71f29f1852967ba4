import { PlaybackStart } from '#areas/playback/public.ts';
import { openToReceivers } from '#areas/streaming/public.ts';
import { LiveSession } from '#areas/viewing/public.ts';
import { bytes, defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getManagedLive, getOwnLive } from './access.ts';
import { masterOf, PLAYLIST, playlistAnswer, playlistOf, renditionOf, sendLiveSegment } from './lists.ts';
import { growingList, sendPart } from './recorded.ts';
import { liveSessionOf } from './session.view.ts';
import { tuneFor, watch } from './watch.ts';
import {
  MasterQuery,
  PlaylistQuery,
  RenditionParams,
  SegmentParams,
  TicketQuery,
  WatchLive,
} from './watching.schemas.ts';

export const watchLiveChannel = defineEndpoint({
  operationId: 'watchLiveChannel',
  method: 'post',
  path: '/live/channels/:id/watch',
  summary: 'Tune to a channel and open a session',
  description:
    'Viewers of one channel share one stream. With `replaces` this is zapping: the other session ends first, so that a tuner with one slot can change its channel; if tuning then fails, the old session is gone. 409 `tuners-busy` lists who uses the tuners; 502 lists the sources that gave no data within 15 seconds. With `dryRun` nothing is tuned, and the response is 200 with the decision for a channel that is on.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: WatchLive,
  optionalBody: true,
  answer: json(201, PlaybackStart),
  errors: [
    'MEDIA_NOT_PLAYABLE',
    'MEDIA_UNSUPPORTED_CODEC',
    'MEDIA_TRANSCODE_DISABLED',
    'PROVIDER_UNAVAILABLE',
    'STREAM_LIMIT_REACHED',
    'TRANSCODE_LIMIT_REACHED',
    'CONFLICT',
  ],
  emits: ['playback.started'],

  before: ({ params, body }, call) => tuneFor(call, params.id, body),

  async handle({ params, body }, call) {
    return watch(call, params.id, body);
  },
});

export const getLiveSession = defineEndpoint({
  operationId: 'getLiveSession',
  method: 'get',
  path: '/live/sessions/:id',
  summary: 'Read the buffer of a live session',
  description:
    'Returns the edges of the buffer, its programmes and its outages, for the scrub bar; poll it every 10 seconds. It keeps nothing alive. Own sessions, or any with `session:manage`, which also shows `tuner`. A session that has ended is 404.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, LiveSession),

  async handle({ params }, call) {
    return liveSessionOf(call, await getManagedLive(call, params.id));
  },
});

export const getLiveMaster = defineEndpoint({
  operationId: 'getLiveMaster',
  method: 'get',
  path: '/live/sessions/:id/master.m3u8',
  summary: 'Read the HLS master playlist of a live session',
  description:
    'Lists the rendition that was decided for the session, and the captions of the channel that were found so far as WebVTT. A cast ticket in the query is repeated in every address. The playlist must not be cached.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: IdParams,
  query: MasterQuery,
  answer: bytes(PLAYLIST),

  async handle({ params, query }, call) {
    const row = await getOwnLive(call, params.id);
    openToReceivers(call, query.ticket);
    return playlistAnswer(call, await masterOf(call, row, query.ticket));
  },
});

export const getLivePlaylist = defineEndpoint({
  operationId: 'getLivePlaylist',
  method: 'get',
  path: '/live/sessions/:id/:rendition/index.m3u8',
  summary: 'Read the playlist of a rendition',
  description:
    'The rendition is the one that was decided, or captions that the master playlist lists. A sliding list; of a recording that has no file yet, a growing one from its beginning. Every segment has a date. `window=short` lists the last 30 seconds, `full` the whole buffer, of which `_HLS_skip` leaves out what the player knows. With `_HLS_msn` the response waits for that segment, at most three target durations, then 503. A first segment is awaited for up to 20 seconds. The request keeps the session alive.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: RenditionParams,
  query: PlaylistQuery,
  answer: bytes(PLAYLIST),
  errors: ['TRANSCODE_LIMIT_REACHED'],

  async handle({ params, query }, call) {
    const row = await getOwnLive(call, params.id);
    const rendition = renditionOf(row, params.rendition);
    openToReceivers(call, query.ticket);
    const isLive = row.live.recordingId === undefined;
    return playlistAnswer(call, await (isLive ? playlistOf(call, rendition, query) : growingList(call, row, query)));
  },
});

export const getLiveSegment = defineEndpoint({
  operationId: 'getLiveSegment',
  method: 'get',
  path: '/live/sessions/:id/:rendition/segments/:segment',
  summary: 'Read a segment of a live session',
  description:
    'The segment is <sequence>.ts, <sequence>.m4s with the init segment that the playlist names (init.mp4 is the newest), or <sequence>.vtt for captions. It is immutable, with an ETag. A segment that was not received yet is awaited for up to 6 seconds; one that has left the buffer is 404.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: SegmentParams,
  query: TicketQuery,
  answer: bytes('video/mp4', 'video/mp2t', 'audio/mp4', 'text/vtt'),
  errors: ['RANGE_NOT_SATISFIABLE'],

  async handle({ params, query }, call) {
    const row = await getOwnLive(call, params.id);
    const rendition = renditionOf(row, params.rendition);
    openToReceivers(call, query.ticket);
    return row.live.recordingId === undefined
      ? sendLiveSegment(call, rendition, params.segment)
      : sendPart(call, row, params.segment);
  },
});
