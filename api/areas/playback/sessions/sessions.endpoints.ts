import { z } from 'zod';
import { findItemSummaries } from '#areas/items/public.ts';
import { findSession, type SessionRow } from '#areas/viewing/public.ts';
import { may, requirePermission } from '#identity/principal.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, pageQuery, parseSort, type SortTable, sortQuery } from '#kernel/page.ts';
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
  summary: 'Decide how an item is played and open a session',
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

const sessionSorts: SortTable = {
  startedAt: { column: 's.started_at', type: 'timestamptz' },
  lastReportAt: { column: 's.last_report_at', type: 'timestamptz' },
};

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
  access: { permission: 'library:view' },
  query: SessionQuery,
  answer: page(PlaybackSession),

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, include, ...filter } = query;
    const others = filter.scope === 'all' || (filter.userId !== undefined && filter.userId !== who.accountId);
    if (others) requirePermission(who, 'session:manage');
    const list = db('playback_sessions as s').select('s.*');
    if (!others) list.where('s.account_id', who.accountId);
    if (filter.userId) list.where('s.account_id', filter.userId);
    if (filter.itemId) list.where('s.item_id', filter.itemId);
    if (filter.method) list.where('s.method', filter.method);
    if (filter.state) list.where('s.state', filter.state);
    else list.whereNot('s.state', 'stopped');
    list.whereRaw(`(s.stopped_at is null or s.stopped_at > ?)`, [new Date(call.now.getTime() - KEPT_MS)]);
    const found = await pageOf<SessionRow, SessionRow>(db, list, {
      keys: deps.keys,
      terms: parseSort(sort, sessionSorts, '-startedAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listPlaybackSessions', who.accountId, filter]),
      idColumn: 's.id',
      toItem: (row) => row,
    });
    return { items: await withItems(call, found.items, include !== undefined), page: found.page };
  },
});

/** Items that the caller may not see are left out: an admin learns that somebody plays, not what. */
async function withItems(
  { db, who }: Call,
  rows: readonly SessionRow[],
  wanted: boolean,
): Promise<z.input<typeof PlaybackSession>[]> {
  const items = wanted ? await findItemSummaries(db, who, [...new Set(rows.map((row) => row.item_id))]) : new Map();
  return rows.map((row) => {
    const item = items.get(row.item_id);
    return { ...toSession(row, who), ...(item && { item }) };
  });
}

export const getPlaybackSession = defineEndpoint({
  operationId: 'getPlaybackSession',
  method: 'get',
  path: '/playback/sessions/:id',
  summary: 'Read a playback session',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ include: z.literal('item').optional() }),
  answer: json(200, PlaybackSession),

  async handle({ params, query }, call) {
    const row = await findSession(call.db, params.id);
    const mine = row?.account_id === call.who.accountId;
    if (!row || !(mine || may(call.who, 'session:manage')) || forgotten(row, call.now)) throw notFound();
    const [session] = await withItems(call, [row], query.include !== undefined);
    if (!session) throw notFound();
    return session;
  },
});

const KEPT_MS = 24 * 3_600_000;

function forgotten(row: SessionRow, now: Date): boolean {
  return row.stopped_at !== null && now.getTime() - row.stopped_at.getTime() > KEPT_MS;
}

export const changePlayback = defineEndpoint({
  operationId: 'changePlayback',
  method: 'patch',
  path: '/playback/sessions/:id',
  summary: 'Choose other tracks, quality or file inside a session',
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
  summary: 'Report where the player is',
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
  summary: 'What I may play from where I am',
  access: { signedIn: true },
  answer: json(200, PlaybackCapabilities),

  async handle(_input, call) {
    return readCapabilities(call);
  },
});
