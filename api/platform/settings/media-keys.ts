import { z } from 'zod';
import { catalogueIds } from '../agents/agent.ts';
import {
  address,
  bool,
  bytes,
  GIB,
  int,
  language,
  maybeBytes,
  maybeInt,
  maybeText,
  networks,
  setting,
} from './define.ts';

const Rung = z.object({
  id: z.string().max(40),
  label: z.string().max(60),
  height: z.int().min(0).max(4320),
  videoBitrate: z.int().min(0),
  audioBitrate: z.int().min(16_000),
});
export type Rung = z.output<typeof Rung>;

const rung = (id: string, height: number, videoBitrate: number): Rung => ({
  id,
  label: height ? `${height}p ${Number((videoBitrate / 1e6).toFixed(1))} Mbit/s` : 'Audio only',
  height,
  videoBitrate,
  audioBitrate: height >= 1080 ? 256_000 : height >= 480 ? 160_000 : 128_000,
});

/** Bits per second, highest first (getPlaybackCapabilities). */
const LADDER = [
  rung('2160p-40m', 2160, 40_000_000),
  rung('2160p-20m', 2160, 20_000_000),
  rung('1080p-12m', 1080, 12_000_000),
  rung('1080p-8m', 1080, 8_000_000),
  rung('1080p-4m', 1080, 4_000_000),
  rung('720p-3m', 720, 3_000_000),
  rung('480p-1m5', 480, 1_500_000),
  rung('360p-0m8', 360, 800_000),
  { id: 'audio-0m2', label: 'Audio only', height: 0, videoBitrate: 0, audioBitrate: 200_000 },
];

const map = () => z.record(z.string().max(100), z.unknown());

/** Groups playback, transcode, downloads, cast, analysis, search, faces, metadata, artwork, photos. */
export const mediaKeys = {
  'playback.maxStreams': setting(maybeInt(1, 10_000), 'Playback'),
  'playback.watchedPercent': setting(int(50, 99, 90), 'Playback'),
  'playback.ladder': setting(z.array(Rung).min(1).max(20).default(LADDER), 'Playback'),
  'playback.defaults': setting(map().default({}), 'Playback'),
  'transcode.hardware': setting(z.enum(['auto', 'nvenc', 'qsv', 'vaapi', 'off']).default('auto'), 'Streaming'),
  'transcode.maxWorkers': setting(int(0, 64, 4), 'Streaming'),
  'transcode.cacheBytes': setting(bytes(50 * GIB), 'Streaming'),
  'downloads.keepDays': setting(int(1, 365, 14), 'Downloads'),
  'downloads.maxPerAccount': setting(int(0, 10_000, 200), 'Downloads'),
  'downloads.maxBytesPerAccount': setting(maybeBytes(), 'Downloads'),
  'downloads.cacheBytes': setting(bytes(200 * GIB), 'Downloads'),
  'cast.guests': setting(bool(false), 'Cast'),
  'analysis.preview_thumbnails': setting(bool(true), 'Libraries'),
  'analysis.intro_detection': setting(bool(true), 'Libraries'),
  'analysis.credits_detection': setting(bool(true), 'Libraries'),
  'analysis.voice_activity': setting(bool(true), 'Libraries'),
  'analysis.fingerprints': setting(z.enum(['now', 'window']).default('window'), 'Libraries'),
  'analysis.sonic': setting(bool(true), 'Music'),
  'search.transcripts': setting(bool(true), 'Search'),
  'faces.enabled': setting(bool(false), 'Faces'),
  'faces.libraries': setting(z.array(z.uuid()).max(500).default([]), 'Faces'),
  'faces.model': setting(maybeText(100), 'Faces'),
  'faces.minFaces': setting(int(2, 20, 3), 'Faces'),
  'faces.maxDistance': setting(z.number().min(0).max(2).nullable().default(null), 'Faces'),
  'faces.visibleTo': setting(z.enum(['admins', 'members', 'everyone']).default('members'), 'Faces'),
  'metadata.language': setting(language().nullable().default(null), 'Libraries'),
  'metadata.baseUrls': setting(
    z.partialRecord(z.enum(catalogueIds), address(['http:', 'https:'])).default({}),
    'Libraries',
    'O',
  ),
  'metadata.allowedNetworks': setting(networks(), 'Libraries', 'O'),
  'artwork.cacheBytes': setting(bytes(20 * GIB), 'Artwork'),
  'photos.mapTiles': setting(
    z
      .string()
      .max(2048)
      .regex(/^https:\/\/(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})/)
      .nullable()
      .default(null),
    'Items',
  ),
};
