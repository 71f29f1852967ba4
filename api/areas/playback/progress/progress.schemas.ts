import { z } from 'zod';
import { ItemType } from '#areas/items/public.ts';
import { MAX_LENGTH } from '#kernel/filter.ts';
import { Id, Milliseconds, Moment, Timestamp } from '#kernel/schemas.ts';

export const ReadingPosition = z
  .object({
    itemId: Id,
    fileId: Id.nullable(),
    value: z.string().meta({ example: 'page:42' }),
    progress: z.number().min(0).max(1).meta({ example: 0.24 }),
    page: z.int().optional(),
    pages: z.int().optional(),
    finished: z.boolean(),
    deviceName: z.string().nullable().meta({ example: 'Living room' }),
    updatedAt: Timestamp,
  })
  .meta({ id: 'ReadingPosition' });
export type ReadingPosition = z.output<typeof ReadingPosition>;

export const ItemProgress = z
  .object({
    itemId: Id,
    type: z.string().meta({ example: 'movies' }),
    positionMs: Milliseconds.meta({ example: 1380000 }),
    durationMs: Milliseconds.nullable().meta({ example: 5640000 }),
    progress: z.number().min(0).max(1).meta({ example: 0.24 }),
    fileId: Id.nullable(),
    watched: z.boolean(),
    playCount: z.int(),
    lastPlayedAt: Timestamp.nullable(),
    updatedAt: Timestamp.nullable(),
    reading: ReadingPosition.optional().describe('Of a book or comic that was opened'),
    children: z
      .object({ total: z.int().meta({ example: 1 }), watched: z.int(), inProgress: z.int(), nextItemId: Id.optional() })
      .optional()
      .describe('Of a container; its own position is that of the next child'),
  })
  .meta({ id: 'ItemProgress' });
export type ItemProgress = z.output<typeof ItemProgress>;

const Time = Moment.describe('Client time; a future time counts as now');

export const SetProgress = z.strictObject({
  positionMs: Milliseconds.meta({ example: 1380000 }),
  fileId: Id.optional(),
  at: Time.optional(),
});

export const MarkWatched = z.strictObject({ at: Moment.optional(), countPlay: z.boolean().default(false) });

export const SetReading = z.strictObject({
  value: z
    .union([z.string().regex(/^page:([1-9]\d{0,5}|1000000)$/), z.string().regex(/^cfi:epubcfi\(.{1,990}\)$/)])
    .meta({ example: 'page:42' }),
  fileId: Id.optional(),
  progress: z.number().min(0).max(1).optional().describe('Expected with cfi').meta({ example: 0.24 }),
  finished: z.boolean().optional(),
  at: Time.optional(),
});
export type SetReading = z.output<typeof SetReading>;

const RatingValue = z.number().min(0.5).max(10).multipleOf(0.5).nullable();

export const SetRating = z
  .strictObject({
    value: RatingValue.optional().describe('null clears').meta({ example: 8 }),
    favorite: z.boolean().optional(),
  })
  .refine((body) => body.value !== undefined || body.favorite !== undefined, {
    error: 'value or favorite',
    params: { code: 'nothing_to_set' },
  })
  .meta({ minProperties: 1 });

export const ItemRating = z
  .object({
    itemId: Id,
    value: z.number().nullable().meta({ example: 8 }),
    favorite: z.boolean(),
    ratedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ItemRating' });

const SyncReports = z
  .array(
    z.strictObject({
      clientEventId: Id,
      itemId: Id,
      at: Moment,
      fileId: Id.optional(),
      positionMs: Milliseconds.optional().meta({ example: 1380000 }),
      watched: z.boolean().optional(),
      favorite: z.boolean().optional(),
      rating: RatingValue.optional().describe('null clears').meta({ example: 8 }),
      playedMs: Milliseconds.optional(),
      reading: z.string().max(1100).optional(),
    }),
  )
  .min(1)
  .max(500);

/** Items of a library, as its list shows them. */
export const StateSelection = z.strictObject({
  libraryId: Id,
  filter: z.string().max(MAX_LENGTH).optional().meta({ example: 'watched:eq:false' }),
  type: z.array(ItemType).max(30).optional().describe('Absent is the types that the list of the library shows'),
  except: z.array(Id).max(500).default([]).describe('Items that keep their state'),
  expect: z.int().min(0).describe('The number of items that the caller saw').meta({ example: 120 }),
});
export type StateSelection = z.output<typeof StateSelection>;

export const OwnState = z
  .strictObject({
    watched: z.boolean().optional(),
    favorite: z.boolean().optional(),
    clearProgress: z.literal(true).optional(),
  })
  .meta({ minProperties: 1 });
export type OwnState = z.output<typeof OwnState>;

export const SyncPlayback = z
  .strictObject({ reports: SyncReports.optional(), select: StateSelection.optional(), set: OwnState.optional() })
  .superRefine(({ reports, select, set }, context) => {
    const refuse = (path: string, code: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message, params: { code } });
    if (!reports === !select) refuse('reports', 'one_of', 'reports or select');
    if (!select !== !set) refuse('set', 'with_select', 'set comes with select');
    if (set && Object.keys(set).length === 0) refuse('set', 'nothing_to_set', 'watched, favorite or clearProgress');
  })
  .meta({
    example: {
      reports: [
        {
          clientEventId: '01900000-0000-7000-8000-000000000001',
          itemId: '01900000-0000-7000-8000-000000000002',
          at: '2026-01-02T03:04:05.000Z',
          positionMs: 1380000,
        },
      ],
    },
  });
export type SyncReport = z.output<typeof SyncReports>[number];

export const Synced = z.object({
  results: z.array(
    z.object({ clientEventId: Id, outcome: z.enum(['applied', 'older', 'duplicate', 'not-found', 'invalid']) }),
  ),
  matched: z.int().optional().describe('Items that the selection matched'),
  jobId: Id.optional().describe('The job of a selection of more than 500 items'),
  serverTime: Timestamp,
});

const skipMode = z.enum(['ask', 'auto', 'off']);

const APP_BYTES = 8192;
/** Kept as it is for the web app; no other part reads it. */
const AppChoices = z
  .record(z.string().max(100), z.unknown())
  .refine((value) => JSON.stringify(value).length <= APP_BYTES, {
    error: `at most ${APP_BYTES} characters as JSON`,
    params: { code: 'too_big' },
  })
  .describe('View choices of the web app, at most 8 KiB as JSON')
  .meta({ example: { density: 'compact' } });

export const PlaybackPreferences = z
  .object({
    audioLanguages: z
      .array(z.string().max(35))
      .max(5)
      .meta({ example: ['de'] }),
    preferOriginalAudio: z.boolean(),
    subtitleLanguages: z
      .array(z.string().max(35))
      .max(5)
      .meta({ example: ['en'] }),
    subtitleMode: z.enum(['off', 'forced', 'foreign-audio', 'always']),
    hearingImpaired: z.enum(['prefer', 'avoid', 'any']),
    rememberTracks: z.boolean(),
    homeQuality: z.string().max(20).describe('auto, original or a ladder id').meta({ example: 'original' }),
    remoteQuality: z.string().max(20).meta({ example: '720p' }),
    maxAudioChannels: z.int().min(1).max(16),
    dynamicRange: z.enum(['off', 'standard', 'night']).describe('Applies to encoded audio only'),
    skipIntro: skipMode,
    skipRecap: skipMode,
    skipCredits: skipMode,
    skipCommercials: skipMode,
    autoplayNext: z.boolean(),
    autoplayCountdownSec: z.int().min(0).max(60),
    askStillWatchingAfter: z.int().min(0).max(20).describe('Episodes; 0 is never'),
    rewindOnResumeMs: z.int().min(0).max(30_000),
    audiobookRate: z.number().min(0.5).max(3),
    skipBackMs: z.int().min(1000).max(120_000),
    skipForwardMs: z.int().min(1000).max(120_000),
    preroll: z.boolean(),
    subtitleStyle: z.strictObject({
      sizePercent: z.int().min(50).max(300),
      color: z
        .string()
        .regex(/^#[0-9a-fA-F]{6}$/)
        .meta({ example: '#c8553d' }),
      background: z
        .string()
        .regex(/^#[0-9a-fA-F]{6,8}$/)
        .meta({ example: '#101418' }),
      edge: z.enum(['none', 'outline', 'shadow']),
      bottomPercent: z.int().min(0).max(50),
      family: z.enum(['body', 'serif', 'mono', 'casual']).default('body'),
      weight: z.union([z.literal(400), z.literal(700)]).default(400),
    }),
    app: AppChoices.optional(),
  })
  .meta({ id: 'PlaybackPreferences' });
export type PlaybackPreferences = z.output<typeof PlaybackPreferences>;

const nullable = Object.fromEntries(
  Object.entries(PlaybackPreferences.shape).map(([key, schema]) => [key, (schema as z.ZodType).nullable().optional()]),
);
/** null returns a field to the server's default. */
export const ChangePreferences = z.strictObject(nullable);

const Rung = z.object({
  id: z.string().meta({ example: '1080p' }),
  label: z.string().meta({ example: '1080p' }),
  height: z.int().meta({ example: 1080 }),
  videoBitrate: z.int(),
  audioBitrate: z.int(),
});

export const PlaybackCapabilities = z
  .object({
    isRemote: z.boolean(),
    streamCap: z.int().nullable().describe('null is none'),
    activeStreams: z.int(),
    transcodeVideo: z.boolean(),
    transcodeAudio: z.boolean(),
    maxBitrateHome: z.int().nullable(),
    maxBitrateRemote: z.int().nullable(),
    maxHeight: z.int().nullable(),
    ladder: z.array(Rung),
    codecs: z.array(z.object({ codec: z.string().meta({ example: 'h264' }), hardware: z.boolean() })),
    toneMapping: z.boolean(),
    burnIn: z.boolean(),
    builtInProfiles: z.array(z.string()).meta({ example: ['web-chrome'] }),
    keepAliveMs: z.int(),
    watchedPercent: z.int(),
    slots: z
      .object({ total: z.int().meta({ example: 1 }), used: z.int(), waiting: z.int() })
      .optional()
      .describe('With session:manage'),
  })
  .meta({ id: 'PlaybackCapabilities' });
