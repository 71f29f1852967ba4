import { z } from 'zod';
import { Day, Id, Milliseconds, Timestamp } from '#kernel/schemas.ts';

const segment = z.int().min(0);

export const Rendition = z
  .object({
    id: z.string().describe('v0-v3 video, a0-a15 audio, s0-s31 text subtitles').meta({ example: 'v0' }),
    kind: z.enum(['video', 'audio', 'subtitle']),
    codec: z.string().meta({ example: 'h264' }),
    action: z.enum(['copy', 'encode']),
    bitrate: z.int().nullable().meta({ example: 6000000 }),
    width: z.int().nullable().meta({ example: 1440 }),
    height: z.int().nullable().meta({ example: 1080 }),
    channels: z.int().nullable().meta({ example: 2 }),
    language: z.string().nullable().meta({ example: 'en' }),
    title: z.string().nullable().meta({ example: 'Nosferatu' }),
    default: z.boolean(),
    forced: z.boolean(),
    ready: z
      .array(z.object({ from: segment, to: segment }))
      .describe('Segment numbers that are stored, both inclusive'),
  })
  .meta({ id: 'Rendition' });
export type Rendition = z.output<typeof Rendition>;

export const TranscodeSession = z
  .object({
    id: Id,
    playbackSessionId: Id,
    itemId: Id,
    mediaFileId: Id,
    state: z
      .enum(['starting', 'running', 'idle', 'stopped', 'failed'])
      .describe('starting: waits for a worker; idle: the encoder is paused or finished'),
    mode: z.enum(['copy', 'encode']),
    container: z.enum(['fmp4', 'ts']),
    durationMs: Milliseconds.meta({ example: 5640000 }),
    segmentCount: z.int(),
    segmentTargetMs: Milliseconds,
    renditions: z.array(Rendition),
    lastWantedSegment: z.int().nullable(),
    restarts: z.int(),
    speed: z.number().nullable().describe('Multiple of real time'),
    error: z.object({ code: z.string(), reason: z.string(), segment: z.int() }).nullable().meta({ example: null }),
    createdAt: Timestamp,
    lastAccessAt: Timestamp.nullable(),
    worker: z
      .object({ id: z.string(), node: z.string(), encoder: z.string(), gpu: z.string().nullable(), pid: z.int() })
      .optional()
      .describe('With session:manage only'),
  })
  .meta({ id: 'TranscodeSession' });
export type TranscodeSession = z.output<typeof TranscodeSession>;

export const Trickplay = z
  .object({
    fileId: Id,
    intervalMs: Milliseconds,
    durationMs: Milliseconds.meta({ example: 5640000 }),
    widths: z.array(
      z.object({
        width: z.int().meta({ example: 1440 }),
        height: z.int().meta({ example: 1080 }),
        columns: z.int(),
        rows: z.int(),
        thumbs: z.int(),
        sheets: z.int(),
        mime: z.string().meta({ example: 'video/x-matroska' }),
        sizeBytes: z.int().meta({ example: 4294967296 }),
      }),
    ),
    madeAt: Timestamp,
  })
  .meta({ id: 'Trickplay' });
export type Trickplay = z.output<typeof Trickplay>;

/** `MM-DD`, a day that exists in some years at least. */
const MonthDay = z
  .string()
  .regex(/^\d{2}-\d{2}$/)
  .refine((text) => Day.safeParse(`2024-${text}`).success, { error: 'no such day', params: { code: 'bad_day' } })
  .meta({ description: 'MM-DD' });

const Season = z
  .object({ from: MonthDay.meta({ example: '10-01' }), to: MonthDay.meta({ example: '11-02' }) })
  .describe('Both inclusive; may cross the new year');

export const PrerollClipSetting = z
  .object({
    id: Id,
    itemId: Id,
    title: z.string().meta({ example: 'Coming soon' }),
    durationMs: Milliseconds.meta({ example: 5640000 }),
    weight: z.int(),
    season: Season.nullable(),
    libraryIds: z.array(Id).describe('Empty is all'),
    ageRating: z.string().nullable().meta({ example: 'PG' }),
    state: z.enum(['preparing', 'ready', 'failed']),
    error: z.string().nullable(),
  })
  .meta({ id: 'PrerollClipSetting' });

const prerollRules = {
  enabled: z.boolean(),
  pick: z.enum(['random', 'in-order', 'all']),
  maxClips: z.int().min(1).max(5),
  skippableAfterMs: z.int().min(0).max(60_000).nullable().describe('null is not skippable'),
  itemTypes: z.array(z.enum(['movie', 'episode', 'video'])).max(3),
  resumeToo: z.boolean(),
};

export const PrerollSettings = z
  .object({ ...prerollRules, clips: z.array(PrerollClipSetting).max(100) })
  .meta({ id: 'PrerollSettings' });
export type PrerollSettings = z.output<typeof PrerollSettings>;

export const PrerollClipDraft = z
  .strictObject({
    id: Id.optional(),
    itemId: Id,
    weight: z.int().min(1).max(100).default(1),
    season: Season.nullable().optional(),
    libraryIds: z.array(Id).max(200).default([]),
    ageRating: z.string().max(20).nullable().optional().meta({ example: 'PG' }),
  })
  .meta({ id: 'PrerollClipDraft' });
export type PrerollClipDraft = z.output<typeof PrerollClipDraft>;

export const PrerollDraft = z
  .strictObject({
    ...prerollRules,
    skippableAfterMs: prerollRules.skippableAfterMs.default(null),
    resumeToo: z.boolean().default(false),
    clips: z.array(PrerollClipDraft).max(100),
  })
  .meta({ id: 'PrerollDraft' });
export type PrerollDraft = z.output<typeof PrerollDraft>;

/** The setting `playback.preroll`; the clips are rows. */
export const PrerollRules = z.object(prerollRules);
export type PrerollRules = z.output<typeof PrerollRules>;

export const PrerollClip = z
  .object({
    id: Id,
    itemId: Id,
    title: z.string().meta({ example: 'Nosferatu' }),
    durationMs: Milliseconds.meta({ example: 5640000 }),
    url: z.string().meta({ example: 'https://hooks.example/foyer' }),
    skippableAfterMs: Milliseconds.nullable(),
  })
  .meta({ id: 'PrerollClip' });
export type PrerollClip = z.output<typeof PrerollClip>;
