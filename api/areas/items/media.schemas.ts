import { z } from 'zod';
import { Bytes, Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';

export const MediaStream = z
  .object({
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
  })
  .meta({ id: 'MediaStream' });
export type MediaStream = z.output<typeof MediaStream>;

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
