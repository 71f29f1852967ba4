import { z } from 'zod';
import { ItemSummary } from '#areas/items/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Day, Id, Moment, queryBool, queryInt, Timestamp } from '#kernel/schemas.ts';
import { historySort } from './history/history.sort.ts';

export const playMethods = [
  ...(['direct_play', 'direct_stream', 'transcode', 'offline', 'reading', 'game', 'live'] as const),
];
export const PlayMethod = z.enum(playMethods).meta({ id: 'PlayMethod' });
export type PlayMethod = z.output<typeof PlayMethod>;
export const playSources = ['playback', 'offline-sync', 'import'] as const;
export type PlaySource = (typeof playSources)[number];

export const HistoryEntry = z
  .object({
    id: Id,
    item: ItemSummary.optional().describe('Absent when it is gone'),
    title: z.string().describe('As it was').meta({ example: 'Nosferatu' }),
    parentTitle: z.string().optional().describe('Show or album, as it was'),
    type: z.string().meta({ example: 'movie' }),
    libraryId: Id.optional(),
    userId: Id,
    displayName: z.string().optional().meta({ example: 'Ada' }),
    profileId: Id.optional(),
    profileName: z.string().optional().meta({ example: 'Ada' }),
    startedAt: Timestamp,
    endedAt: Timestamp,
    playedMs: z.int(),
    fromMs: z.int(),
    toMs: z.int(),
    durationMs: z.int().optional(),
    completed: z.boolean(),
    method: PlayMethod,
    reasons: z
      .array(z.string())
      .describe('Why it was not played directly')
      .meta({ example: ['video-codec'] }),
    quality: z.string().optional(),
    client: z.object({ name: z.string().meta({ example: 'Firefox on Linux' }), platform: z.string().optional() }),
    isRemote: z.boolean(),
    address: z.string().optional().describe('With session:manage, for 30 days').meta({ example: '192.168.1.20' }),
    bytes: z.int().optional(),
    source: z.enum(playSources),
    sessionId: Id.optional(),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = z.output<typeof HistoryEntry>;

const span = {
  from: Day.optional().describe('First day, in the time zone of the profile'),
  to: Day.optional().describe('Last day'),
};

export const HistoryQuery = z.object({
  ...pageQuery,
  sort: sortQuery(historySort),
  userId: z
    .union([z.enum(['me', 'all']), Id])
    .default('me')
    .describe('me, all or the id of an account'),
  profileId: Id.optional(),
  libraryId: Id.optional(),
  itemId: Id.optional().describe('Its descendants included'),
  type: z.string().max(60).optional(),
  method: PlayMethod.optional(),
  ...span,
  completed: queryBool.optional(),
  q: z.string().trim().min(1).max(100).optional().describe('In the title'),
});
export type HistoryQuery = z.output<typeof HistoryQuery>;

export const ForgetQuery = z.object({
  ids: commaList(Id, 200).optional(),
  itemId: Id.optional().describe('Its descendants included'),
  before: Moment.optional(),
  all: queryBool.optional(),
  userId: Id.optional().describe('An account of role child, with user:manage'),
});
export type ForgetQuery = z.output<typeof ForgetQuery>;

export const StatFigures = z
  .object({
    plays: z.int(),
    playedMs: z.int(),
    completed: z.int(),
    items: z.int(),
    users: z.int(),
    remotePlays: z.int(),
    transcodedPlays: z.int(),
    bytes: z.int(),
  })
  .meta({ id: 'StatFigures' });
export type StatFigures = z.output<typeof StatFigures>;

export const StatGroup = z
  .object({
    key: z.string().meta({ example: '2026-11-27' }),
    label: z.string().meta({ example: '2026-11-27' }),
    figures: StatFigures,
    split: z.array(z.object({ key: z.string(), label: z.string(), plays: z.int(), playedMs: z.int() })).optional(),
  })
  .meta({ id: 'StatGroup' });
export type StatGroup = z.output<typeof StatGroup>;

const Top = z
  .object({
    id: Id,
    title: z.string().meta({ example: 'Nosferatu' }),
    item: ItemSummary.optional(),
    plays: z.int(),
    playedMs: z.int(),
    users: z.int(),
  })
  .meta({ id: 'StatTop' });
export type Top = z.output<typeof Top>;

const Count = z.record(z.string(), z.int());
export const ContentStats = z
  .object({
    items: Count.describe('By item type').meta({ example: { movie: 12 } }),
    files: z.int(),
    sizeBytes: z.int(),
    durationMs: z.int(),
    byLibrary: z.array(
      z.object({ libraryId: Id, name: z.string(), items: z.int(), sizeBytes: z.int(), unplayedItems: z.int() }),
    ),
    codecs: z.array(z.object({ codec: z.string().meta({ example: 'h264' }), files: z.int() })),
    resolutions: z.array(z.object({ height: z.int(), files: z.int() })),
    growth: z.array(z.object({ month: z.string().meta({ example: '2026-11' }), added: z.int(), sizeBytes: z.int() })),
    neverPlayed: z.object({ items: z.int(), sizeBytes: z.int() }),
  })
  .meta({ id: 'ContentStats' });
export type ContentStats = z.output<typeof ContentStats>;

export const DeliveryStats = z
  .object({
    methods: z.object({ direct_play: z.int(), direct_stream: z.int(), transcode: z.int() }),
    reasons: z.array(z.object({ reason: z.string().meta({ example: 'video-codec' }), plays: z.int() })),
    peak: z.object({ streams: z.int(), transcodes: z.int(), at: Timestamp.nullable() }),
    concurrency: z.array(z.object({ key: z.string(), maxStreams: z.int() })).describe('By day'),
    stalls: z.object({ sessions: z.int(), perHour: z.number() }).nullable().describe('null while players report none'),
    firstFrameMs: z.object({ p50: z.int(), p95: z.int() }).nullable().describe('null while players report none'),
    encodeSpeed: z.object({ p50: z.number(), p5: z.number() }).optional(),
    failedStarts: z.array(z.object({ code: z.string(), count: z.int() })).describe('Of the last 30 days'),
  })
  .meta({ id: 'DeliveryStats' });
export type DeliveryStats = z.output<typeof DeliveryStats>;

export const timeGroups = ['day', 'week', 'month', 'hour', 'weekday'] as const;
export const groupings = [
  ...timeGroups,
  ...(['user', 'profile', 'library', 'type', 'genre', 'client', 'method', 'show', 'artist'] as const),
];
export type Grouping = (typeof groupings)[number];
const includes = ['content', 'delivery', 'previous'] as const;

export const StatsQuery = z.object({
  scope: z.enum(['mine', 'server']).default('mine').describe('server needs session:manage'),
  ...span,
  groupBy: z.enum(groupings).default('day'),
  split: z.enum(['user', 'library', 'type', 'method', 'client']).optional(),
  libraryId: Id.optional(),
  userId: Id.optional().describe('Needs session:manage'),
  type: z.string().max(60).optional(),
  top: queryInt(0, 100).default(10),
  include: commaList(z.enum(includes), includes.length).optional(),
});
export type StatsQuery = z.output<typeof StatsQuery>;

export const Stats = z
  .object({
    scope: z.enum(['mine', 'server']),
    range: z.object({ from: Day, to: Day, timeZone: z.string().meta({ example: 'Europe/Berlin' }) }),
    totals: StatFigures,
    groups: z.array(StatGroup),
    top: z
      .object({ items: z.array(Top), shows: z.array(Top), artists: z.array(Top), users: z.array(Top).optional() })
      .optional(),
    content: ContentStats.optional(),
    delivery: DeliveryStats.optional(),
    previous: StatFigures.optional().describe('Of the span of equal length before'),
  })
  .meta({ id: 'Stats' });
export type Stats = z.output<typeof Stats>;
