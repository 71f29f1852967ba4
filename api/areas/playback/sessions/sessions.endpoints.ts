import { z } from 'zod';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { limitHere } from '#kernel/rate-limit.ts';
import { Id, IdParams, queryInt } from '#kernel/schemas.ts';
import {
  ChangePlayback,
  Method,
  PlaybackReport,
  PlaybackSession,
  PlaybackStart,
  Reported,
  SessionState,
  StartPlayback,
} from '../playback.schemas.ts';
import { PlaybackCapabilities } from '../progress/progress.schemas.ts';
import { readCapabilities } from './capabilities.view.ts';
import { change } from './change.ts';
import { end } from './end.ts';
import { report } from './report.ts';
import { toSession } from './session.view.ts';
import { listSessions, readSession, sessionSorts } from './session-list.view.ts';
import { start } from './start.ts';

const playErrors = [
  'STORAGE_UNAVAILABLE',
  'MEDIA_NOT_PLAYABLE',
  'MEDIA_UNSUPPORTED_CODEC',
  'MEDIA_TRANSCODE_DISABLED',
  'STREAM_LIMIT_REACHED',
  'TRANSCODE_LIMIT_REACHED',
] as const;

export const startPlayback = defineEndpoint({
  operationId: 'startPlayback',
  method: 'post',
  path: '/items/:id/playback',
  summary: 'Decide how an item plays and open a session',
  description:
    'A container opens its next unplayed child, which the response names. Without `startMs` playback resumes at the stored position. With `dryRun` no session is opened and the response is 200 with the decision; `replaces` ends another session of the caller in the same transaction. A recording that has no file yet plays from its beginning by a growing list, with the reason `growing-file`. 429 is the stream limit; 503 means that no transcoding worker is available.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: StartPlayback,
  optionalBody: true,
  answer: json(201, PlaybackStart),
  errors: playErrors,
  emits: ['playback.started'],

  async handle({ params, body }, call) {
    return start(call, params.id, body);
  },
});

const SessionQuery = z.object({
  ...pageQuery,
  sort: sortQuery(sessionSorts),
  scope: z.enum(['mine', 'all']).default('mine'),
  userId: Id.optional(),
  itemId: Id.optional(),
  method: Method.optional(),
  state: SessionState.optional(),
  include: z.literal('item').optional(),
});

export const listPlaybackSessions = defineEndpoint({
  operationId: 'listPlaybackSessions',
  method: 'get',
  path: '/playback/sessions',
  summary: 'List playback sessions',
  description:
    "Returns the sessions of the caller's account; `scope=all` and another `userId` need `session:manage`. Without `state`, stopped sessions are left out; stopped ones are kept for 24 hours. `include=item` leaves out items that the caller may not see.",
  access: { permission: 'library:view' },
  query: SessionQuery,
  answer: page(PlaybackSession),

  async handle({ query }, call) {
    return listSessions(call, query);
  },
});

export const getPlaybackSession = defineEndpoint({
  operationId: 'getPlaybackSession',
  method: 'get',
  path: '/playback/sessions/:id',
  summary: 'Read a playback session',
  description:
    "Returns the caller's own session, or any with `session:manage`. A stopped session can be read for 24 hours. `include=item` leaves out an item that the caller may not see.",
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ include: z.literal('item').optional() }),
  answer: json(200, PlaybackSession),

  async handle({ params, query }, call) {
    return readSession(call, params.id, query.include !== undefined);
  },
});

export const changePlayback = defineEndpoint({
  operationId: 'changePlayback',
  method: 'patch',
  path: '/playback/sessions/:id',
  summary: 'Change tracks, quality or file of a session',
  description:
    "Only for the caller's own sessions. Decides again inside the same session: when `url` is unchanged the player continues, otherwise it loads the new one; the previous stream works for 10 more seconds. After any error the previous stream still plays. A stopped session is 409 `session-stopped`.",
  access: { permission: 'library:view' },
  params: IdParams,
  body: ChangePlayback,
  answer: json(200, PlaybackStart),
  errors: [...playErrors, 'CONFLICT'],

  async handle({ params, body }, call) {
    return change(call, params.id, body);
  },
});

const EndQuery = z.object({
  positionMs: queryInt(0, 10 ** 12).optional(),
  message: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Only for another's session")
    .meta({ example: 'Dinner is ready' }),
});

export const endPlaybackSession = defineEndpoint({
  operationId: 'endPlaybackSession',
  method: 'delete',
  path: '/playback/sessions/:id',
  summary: 'End a playback session',
  description:
    "Ends the caller's own session, or any with `session:manage`; ending another user's session notifies them with `message`. The transcode is freed immediately. The request is idempotent.",
  access: { permission: 'library:view' },
  params: IdParams,
  query: EndQuery,
  answer: none(),
  emits: ['playback.stopped'],

  async handle({ params, query }, call) {
    await end(call, params.id, query);
  },
});

export const reportPlayback = defineEndpoint({
  operationId: 'reportPlayback',
  method: 'post',
  path: '/playback/sessions/:id/progress',
  summary: 'Report the state and position of the player',
  description:
    "Send it at every change and at the interval `keepAliveMs`, at most 5 times a second. Only for the caller's own sessions. The position is stored before the response; the response carries commands for the player. A report that is older than a previous one changes nothing. A stopped session is 409 `session-stopped` with `stopReason`.",
  access: { permission: 'library:view' },
  params: IdParams,
  body: PlaybackReport,
  answer: json(200, Reported),
  errors: ['CONFLICT'],
  emits: ['playback.paused', 'playback.resumed', 'playback.progress'],

  async handle({ params, body }, call) {
    limitHere(`report:${call.who.accountId}:${params.id}`, 5, 1000);
    const { row, commands } = await report(call, params.id, body);
    return { session: toSession(row, call.who), commands: commands as z.input<typeof Reported>['commands'] };
  },
});

export const getPlaybackCapabilities = defineEndpoint({
  operationId: 'getPlaybackCapabilities',
  method: 'get',
  path: '/playback/capabilities',
  summary: 'Read what the caller may play from here',
  description:
    'Reports limits, quality ladder, encoders and open streams for the account and the network of the caller. `slots` needs `session:manage`.',
  access: { signedIn: true },
  answer: json(200, PlaybackCapabilities),

  async handle(_input, call) {
    return readCapabilities(call);
  },
});
