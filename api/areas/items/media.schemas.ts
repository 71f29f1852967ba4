import { z } from 'zod';
import { Bytes, Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';

/** A person named to administrators and to that person. */
const NamedAccount = z.object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) });

export const SubtitleSync = z
  .object({
    streamId: Id,
    offsetMs: z.int().min(-3_600_000).max(3_600_000).meta({ example: 1200 }),
    rate: z.number().min(0.9).max(1.1).describe('1 is as made'),
    pieces: z
      .array(z.object({ fromMs: Milliseconds, offsetMs: z.int().meta({ example: 1200 }) }))
      .max(64)
      .describe('Cue times from which another offset holds; an empty list is one offset'),
    source: z.enum(['none', 'manual', 'auto']),
    confidence: z.number().min(0).max(1).optional().describe('Automatic corrections only'),
    version: z.string().min(1).max(32).describe('New at every change').meta({ example: 'f3Qq0dPkT1uX9a2B' }),
    setBy: NamedAccount.optional().describe('For administrators and oneself'),
    setAt: Timestamp.optional(),
    running: z
      .object({ progress: z.number().min(0).max(1), startedAt: Timestamp })
      .optional()
      .describe('An automatic correction in progress'),
  })
  .meta({ id: 'SubtitleSync', description: 'The timing correction of a subtitle track' });
export type SubtitleSync = z.output<typeof SubtitleSync>;

const subtitleFields = {
  itemId: Id,
  fileId: Id,
  file: z.string().describe('The name that getSubtitleFile takes').meta({ example: '2' }),
  format: z.enum(['srt', 'vtt', 'ass', 'pgs', 'vobsub', 'dvb', 'teletext', 'cea608', 'other']),
  pictures: z.boolean().describe('The track has pictures instead of text'),
  source: z.enum(['embedded', 'sidecar', 'fetched', 'generated']),
  provider: z.string().optional().describe('Fetched texts').meta({ example: 'opensubtitles' }),
  release: z.string().optional().describe('Fetched texts').meta({ example: 'Nosferatu.1922.1080p' }),
  model: z.string().optional().describe('Generated texts').meta({ example: 'base' }),
  task: z.enum(['transcribe', 'translate']).optional().describe('Generated texts'),
  by: NamedAccount.optional().describe('Who requested it; for administrators and oneself'),
  mayRemove: z.boolean().describe('By the caller, now, with removeSubtitle'),
  removableUntil: Timestamp.optional(),
  cueCount: z.int().optional().meta({ example: 1200 }),
  sync: SubtitleSync,
};
/** What a subtitle stream has in addition. */
export type SubtitleFields = z.output<z.ZodObject<typeof subtitleFields>> & { addedAt: string };

const streamFields = {
  id: Id,
  index: z.int().describe('In the container; external tracks start at 1000'),
  kind: z.enum(['video', 'audio', 'subtitle', 'attachment']),
  codec: z.string().meta({ example: 'h264' }),
  profile: z.string().optional(),
  language: z.string().optional().describe('BCP 47').meta({ example: 'en' }),
  title: z.string().optional().meta({ example: 'Nosferatu' }),
  default: z.boolean(),
  forced: z.boolean(),
  hearingImpaired: z.boolean(),
  external: z.boolean().describe('A sidecar file'),
  width: z.int().optional().meta({ example: 1440 }),
  height: z.int().optional().meta({ example: 1080 }),
  frameRate: z.number().optional().meta({ example: 18 }),
  hdr: z.enum(['hdr10', 'hdr10plus', 'dolby-vision', 'hlg']).optional(),
  channels: z.int().optional().meta({ example: 2 }),
  sampleRate: z.int().optional().meta({ example: 48000 }),
};

export const MediaStream = z
  .object({ ...streamFields, ...z.object({ ...subtitleFields, addedAt: Timestamp }).partial().shape })
  .meta({ id: 'MediaStream', description: 'A stream of a file; `itemId` and what follows is of subtitles' });
export type MediaStream = z.output<typeof MediaStream>;

export const SubtitleTrack = z
  .object({ ...streamFields, ...subtitleFields, addedAt: Timestamp })
  .meta({ id: 'SubtitleTrack', description: 'A subtitle stream with its origin and its timing correction' });
export type SubtitleTrack = z.output<typeof SubtitleTrack>;

const mediaFile = {
  id: Id,
  itemId: Id,
  edition: z.string().optional(),
  container: z.string().describe('Empty until probed').meta({ example: 'matroska' }),
  sizeBytes: Bytes.meta({ example: 4294967296 }),
  durationMs: Milliseconds.describe('0 until probed').meta({ example: 5640000 }),
  bitrate: z.int().describe('Bits a second; 0 until probed').meta({ example: 6000000 }),
  streams: z.array(MediaStream),
  missing: z.boolean(),
  addedAt: Timestamp,
};
export const MediaFile = z.object(mediaFile).meta({ id: 'MediaFile' });
export type MediaFile = z.output<typeof MediaFile>;

export const Chapter = z
  .object({
    index: z.int(),
    title: z.string().meta({ example: 'Nosferatu' }),
    startMs: Milliseconds,
    endMs: Milliseconds,
    image: ImageRef.optional(),
    source: z.enum(['file', 'audiobook', 'agent', 'person']),
  })
  .meta({ id: 'Chapter' });
export type Chapter = z.output<typeof Chapter>;

export const Marker = z
  .object({
    id: Id,
    fileId: Id.nullable(),
    kind: z.enum(['intro', 'recap', 'credits', 'commercial', 'preview', 'highlight']),
    startMs: Milliseconds,
    endMs: Milliseconds,
    source: z.string(),
  })
  .meta({ id: 'ItemMarker' });
export type Marker = z.output<typeof Marker>;

export const FileDetail = z
  .object({
    ...mediaFile,
    editionLabel: z.string().optional(),
    part: z.int().optional(),
    parts: z.int().optional(),
    chaptersCount: z.int(),
    attachments: z.array(
      z.object({
        name: z.string().meta({ example: 'Films' }),
        mime: z.string().meta({ example: 'video/x-matroska' }),
        sizeBytes: Bytes.meta({ example: 4294967296 }),
      }),
    ),
    embedded: z.record(z.string(), z.string()).describe('Tags of the file: at most 200 pairs and 32 KiB'),
    probedAt: Timestamp.nullable(),
    keyframeIndex: z.boolean(),
    hashes: z.object({ sampled: z.string(), content: z.string().optional() }).optional(),
    fingerprints: z.array(z.object({ kind: z.string().meta({ example: 'video' }), version: z.int() })).optional(),
    analyses: z.array(
      z.object({
        name: z.string().meta({ example: 'Films' }),
        state: z.string().meta({ example: 'ready' }),
        at: Timestamp.nullable(),
      }),
    ),
    chapters: z.array(Chapter).optional().describe('include=chapters'),
    storageId: Id.optional().describe('library:manage only, like the next four members'),
    folderId: Id.optional(),
    path: z
      .string()
      .optional()
      .describe('Inside the storage')
      .meta({ example: 'Films/Nosferatu (1922)/Nosferatu (1922).mkv' }),
    modifiedAt: Timestamp.optional(),
    rawProbe: z.record(z.string(), z.unknown()).optional().describe('include=probe'),
  })
  .meta({ id: 'FileDetail' });
export type FileDetail = z.output<typeof FileDetail>;
