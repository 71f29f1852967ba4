import { z } from 'zod';
import { Chapter, ItemSummary, Marker, MediaStream } from '#areas/items/public.ts';
import { LiveSession } from '#areas/viewing/public.ts';
import { Id, Milliseconds, Moment, Timestamp } from '#kernel/schemas.ts';
import { AudioCodecWord, ContainerWord, ProfileWord, VideoCodecWord } from './media-words.ts';

const hdrs = ['hdr10', 'hdr10plus', 'dolby-vision', 'hlg'] as const;

export const VideoSupport = z.strictObject({
  codec: VideoCodecWord.meta({ example: 'h264' }),
  profiles: z
    .array(ProfileWord)
    .max(20)
    .optional()
    .describe('Any when absent; a profile includes the profiles that its decoders also play'),
  maxLevel: z.int().min(0).max(1000).optional().describe("As in the codec's headers"),
  maxBitDepth: z.union([z.literal(8), z.literal(10), z.literal(12)]).default(8),
  maxWidth: z.int().min(16).max(16_384).optional(),
  maxHeight: z.int().min(16).max(16_384).optional(),
  maxFrameRate: z.number().min(1).max(1000).optional(),
  hdr: z.array(z.enum(hdrs)).max(4).default([]).describe('Empty is SDR only'),
  interlaced: z.boolean().default(false),
});
export type VideoSupport = z.output<typeof VideoSupport>;

export const AudioSupport = z.strictObject({
  codec: AudioCodecWord.meta({ example: 'aac' }),
  maxChannels: z.int().min(1).max(16),
  maxSampleRate: z.int().min(8000).max(768_000).optional(),
  passthrough: z.boolean().default(false),
});
export type AudioSupport = z.output<typeof AudioSupport>;

const DirectRule = z.strictObject({
  containers: z.array(ContainerWord).min(1).max(20),
  video: z.array(VideoSupport).max(20).default([]),
  audio: z.array(AudioSupport).max(20).default([]),
});

/** Capabilities of a player. `builtIn` starts from a profile of the server, which the other fields override. */
export const ClientProfile = z
  .strictObject({
    builtIn: z.string().max(40).optional(),
    maxBitrate: z.int().min(64_000).max(400_000_000).optional().describe('Bits a second'),
    maxWidth: z.int().min(16).max(16_384).optional(),
    maxHeight: z.int().min(16).max(16_384).optional(),
    maxAudioChannels: z.int().min(1).max(16).optional(),
    direct: z.array(DirectRule).max(32).optional(),
    hls: z
      .strictObject({
        segments: z
          .array(z.enum(['fmp4', 'ts']))
          .min(1)
          .max(2),
        video: z.array(VideoSupport).max(20),
        audio: z.array(AudioSupport).max(20),
        audioRenditions: z.boolean(),
        webvtt: z.boolean(),
      })
      .optional(),
    subtitles: z
      .strictObject({
        formats: z.array(z.enum(['vtt', 'ass', 'srt'])).max(3),
        pictures: z.boolean().describe('Renders the CIS1 stream itself'),
      })
      .optional(),
    switchesAudio: z.boolean().optional().describe('Can pick another audio track of a file it plays directly'),
    offline: z.boolean().optional(),
  })
  .meta({ id: 'ClientProfile' });
export type ClientProfile = z.output<typeof ClientProfile>;

export const playbackReasons = [
  'container-not-supported',
  'video-codec-not-supported',
  'video-profile-not-supported',
  'video-level-not-supported',
  'video-bit-depth-not-supported',
  'video-resolution-not-supported',
  'video-frame-rate-not-supported',
  'video-hdr-not-supported',
  'video-interlaced-not-supported',
  'audio-codec-not-supported',
  'audio-channels-not-supported',
  'audio-sample-rate-not-supported',
  'audio-track-switch',
  'subtitle-burn-in',
  'bitrate-over-client-limit',
  'bitrate-over-account-limit',
  'bitrate-over-remote-limit',
  'requested-quality',
  'keyframes-unknown',
  'direct-play-refused',
  'growing-file',
  'live-source',
] as const;
export const PlaybackReason = z.enum(playbackReasons).meta({ id: 'PlaybackReason' });
export type PlaybackReason = z.output<typeof PlaybackReason>;

export const Method = z.enum(['direct_play', 'direct_stream', 'transcode']);
export type Method = z.output<typeof Method>;

export const PlaybackDecision = z
  .object({
    method: Method,
    reasons: z.array(PlaybackReason).describe('Every check that failed'),
    fileId: Id,
    container: z.string().describe('What the client receives').meta({ example: 'matroska' }),
    video: z
      .object({
        action: z.enum(['copy', 'encode']),
        codec: z.string().meta({ example: 'h264' }),
        width: z.int().meta({ example: 1440 }),
        height: z.int().meta({ example: 1080 }),
        bitrate: z.int().meta({ example: 6000000 }),
        hdr: z.enum(hdrs).optional(),
        toneMapped: z.boolean(),
        deinterlaced: z.boolean(),
        hardware: z.boolean().optional(),
      })
      .optional(),
    audio: z
      .object({
        action: z.enum(['copy', 'encode']),
        streamId: Id,
        codec: z.string().meta({ example: 'h264' }),
        channels: z.int().meta({ example: 2 }),
        bitrate: z.int().meta({ example: 6000000 }),
      })
      .optional(),
    subtitle: z
      .object({
        streamId: Id,
        delivery: z.enum(['sidecar', 'hls', 'pictures', 'burn-in']),
        url: z.string().optional().meta({ example: 'https://hooks.example/foyer' }),
      })
      .optional(),
    bitrate: z.int().meta({ example: 6000000 }),
    quality: z.string().meta({ example: '1080p' }),
    alternatives: z.array(
      z.object({
        quality: z.string().meta({ example: '1080p' }),
        method: Method,
        bitrate: z.int().meta({ example: 6000000 }),
        height: z.int().meta({ example: 1080 }),
      }),
    ),
  })
  .meta({ id: 'PlaybackDecision' });
export type PlaybackDecision = z.output<typeof PlaybackDecision>;

export const SessionState = z.enum(['playing', 'paused', 'buffering', 'stopped']);

export const PlaybackSession = z
  .object({
    id: Id,
    userId: Id,
    profileId: Id.optional(),
    itemId: Id,
    item: ItemSummary.optional(),
    mediaFileId: Id,
    state: SessionState,
    positionMs: Milliseconds.meta({ example: 1380000 }),
    durationMs: Milliseconds.nullable().meta({ example: 5640000 }),
    rate: z.number(),
    decision: PlaybackDecision,
    url: z.string().describe('What to play, relative to the server').meta({ example: 'https://hooks.example/foyer' }),
    transcodeSessionId: Id.nullable(),
    live: LiveSession.optional().describe('Of live television, when it starts; then by `getLiveSession`'),
    client: z.object({
      deviceId: Id.nullable(),
      name: z.string().nullable().meta({ example: 'Films' }),
      platform: z.string().nullable().meta({ example: 'Android TV' }),
      address: z.string().optional().describe('With session:manage').meta({ example: '192.0.2.17' }),
    }),
    isRemote: z.boolean(),
    castDeviceId: Id.nullable(),
    roomId: Id.nullable(),
    queueId: Id.nullable(),
    startedAt: Timestamp,
    lastReportAt: Timestamp,
    stoppedAt: Timestamp.nullable(),
    stopReason: z
      .enum([
        'ended',
        'client',
        'ended-by-admin',
        'timeout',
        'replaced',
        'limit',
        'viewing-hours',
        'age-limit',
        'failed',
      ])
      .nullable(),
  })
  .meta({ id: 'PlaybackSession' });
export type PlaybackSession = z.output<typeof PlaybackSession>;

export const PlaybackStart = z
  .object({
    session: PlaybackSession,
    resume: z.object({ positionMs: Milliseconds.meta({ example: 1380000 }), watched: z.boolean() }),
    subtitles: z.array(
      z.object({
        streamId: Id.optional(),
        file: z.string().meta({ example: '/api/v1/files/01977c2e-5a00-7b91-8434-0edb22b3b0a8/stream' }),
        format: z.string().meta({ example: 'vtt' }),
        language: z.string().optional().meta({ example: 'en' }),
        title: z.string().optional().meta({ example: 'Nosferatu' }),
        forced: z.boolean(),
        hearingImpaired: z.boolean(),
        default: z.boolean(),
        url: z
          .string()
          .describe('The text of the track; empty for pictures')
          .meta({ example: 'https://hooks.example/foyer' }),
      }),
    ),
    audio: z.array(MediaStream),
    fonts: z.array(
      z.object({
        name: z.string().meta({ example: 'Films' }),
        url: z.string().meta({ example: 'https://hooks.example/foyer' }),
      }),
    ),
    markers: z.array(
      Marker.pick({ startMs: true, endMs: true }).extend({ kind: z.enum(['intro', 'recap', 'credits', 'commercial']) }),
    ),
    chapters: z.array(Chapter.pick({ title: true, startMs: true })),
    trickplayUrl: z.string().optional(),
    nextItemId: Id.optional(),
    preroll: z.array(
      z.object({
        id: Id,
        itemId: Id,
        title: z.string().meta({ example: 'Nosferatu' }),
        durationMs: Milliseconds.meta({ example: 5640000 }),
        url: z.string().meta({ example: 'https://hooks.example/foyer' }),
        skippableAfterMs: z.int().nullable(),
      }),
    ),
    keepAliveMs: z.int().describe('Interval of reports'),
    warnings: z.array(z.enum(['transcode-slots-low', 'storage-slow', 'audio-fallback', 'subtitle-unavailable'])),
  })
  .meta({ id: 'PlaybackStart' });
export type PlaybackStart = z.output<typeof PlaybackStart>;

export const Quality = z.string().max(20).describe('auto, original or a ladder id');

export const StartPlayback = z.strictObject({
  client: ClientProfile.optional().describe('When absent, the last profile of this X-Client-Id, kept for 90 days'),
  fileId: Id.optional(),
  startMs: Milliseconds.optional().describe('Absent resumes'),
  audioStreamId: Id.optional(),
  subtitleStreamId: Id.nullable().optional().describe('null is none'),
  quality: Quality.optional(),
  maxBitrate: z.int().min(64_000).max(400_000_000).optional(),
  allow: z
    .strictObject({
      directPlay: z.boolean().default(true),
      directStream: z.boolean().default(true),
      transcode: z.boolean().default(true),
    })
    .default({ directPlay: true, directStream: true, transcode: true }),
  preroll: z.boolean().default(false),
  queueId: Id.optional(),
  roomId: Id.optional(),
  castDeviceId: Id.optional(),
  replaces: Id.optional(),
  dryRun: z.boolean().default(false),
});
export type StartPlayback = z.output<typeof StartPlayback>;

export const ChangePlayback = z.strictObject({
  audioStreamId: Id.optional(),
  subtitleStreamId: Id.nullable().optional(),
  quality: Quality.optional(),
  maxBitrate: z.int().min(64_000).max(400_000_000).optional(),
  fileId: Id.optional(),
  positionMs: Milliseconds.optional().meta({ example: 1380000 }),
  client: ClientProfile.optional(),
  remember: z.boolean().default(true),
});
export type ChangePlayback = z.output<typeof ChangePlayback>;

export const PlaybackReport = z.strictObject({
  state: z.enum(['playing', 'paused', 'buffering']),
  positionMs: Milliseconds.meta({ example: 1380000 }),
  rate: z.number().min(0.25).max(4).default(1),
  at: Moment.optional().describe('Client time of the reading'),
  bufferedMs: Milliseconds.optional(),
  droppedFrames: z.int().min(0).optional(),
  bandwidthBps: z.int().min(0).optional(),
  audioStreamId: Id.optional(),
  subtitleStreamId: Id.nullable().optional(),
});
export type PlaybackReport = z.output<typeof PlaybackReport>;

export const Reported = z.object({
  session: PlaybackSession,
  commands: z.array(
    z.object({ command: z.enum(['pause', 'stop', 'seek', 'message']), args: z.record(z.string(), z.unknown()) }),
  ),
});
