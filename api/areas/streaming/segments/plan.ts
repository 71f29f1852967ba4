import type { Hdr } from '#platform/media.ts';
import { exactRate, type Rate } from './rate.ts';

/** The playback decision for the worker and the playlists. Times are milliseconds from the file's beginning. */
export interface StreamOptions {
  playbackSessionId: string;
  accountId: string;
  profileId: string;
  itemId: string;
  fileId: string;
  /** `copy` keeps the video unchanged; `encode` encodes it with a keyframe every 2 seconds. */
  mode: 'copy' | 'encode';
  container: 'fmp4' | 'ts';
  durationMs: number;
  /** The start position of the viewer. */
  startMs: number;
  /** Variants v0 to v3, the chosen one first. Absent for audio only. */
  video?: VideoOptions[];
  audio: AudioOptions[];
  subtitles: SubtitleOptions[];
}

export interface VideoOptions {
  streamIndex: number;
  action: 'copy' | 'encode';
  sourceCodec: string;
  codec: string;
  width: number;
  height: number;
  frameRate: number;
  bitrate: number;
  toneMap: boolean;
  /** Transfer of the tone-mapped HDR picture, which its frames do not always contain. */
  transfer?: 'pq' | 'hlg' | undefined;
  deinterlace: boolean;
  rotation?: number | undefined;
  /** Of a copied stream. */
  hdr?: Hdr | undefined;
  burnIn?: BurnIn | undefined;
}

export interface BurnIn {
  streamIndex: number;
  /** Index among the embedded subtitles, from 0. */
  number: number;
  kind: 'text' | 'picture';
  /** A sidecar file in the same storage. */
  path?: string | undefined;
  /** Language of that file, to guess a legacy encoding. */
  language?: string | undefined;
}

export interface AudioOptions {
  streamId: string;
  streamIndex: number;
  action: 'copy' | 'encode';
  sourceCodec: string;
  codec: string;
  channels: number;
  bitrate: number;
  language?: string | undefined;
  title?: string | undefined;
  /** Compresses the dynamic range of encoded audio. */
  dynamicRange?: 'standard' | 'night' | undefined;
  default: boolean;
}

export interface SubtitleOptions {
  streamId: string;
  streamIndex?: number | undefined;
  /** A sidecar file in the same storage. */
  externalPath?: string | undefined;
  format: string;
  language?: string | undefined;
  title?: string | undefined;
  default: boolean;
  forced: boolean;
  hearingImpaired: boolean;
}

/** Row data of the file for the plan. */
export interface PlanSource {
  storageId: string;
  path: string;
  container: string;
  /** Version of the file's bytes; derived objects are stored under it. */
  version: string;
  /** First timestamp of the file in ms, which is 0 on the plan's clock. */
  startMs: number;
  keyframes?: number[] | undefined;
  /** RFC 6381 string of the copied video stream, if the probe has it. */
  codecStrings?: Record<number, string> | undefined;
}

export interface VideoRendition extends VideoOptions {
  id: string;
  codecString: string;
}
export interface AudioRendition extends AudioOptions {
  id: string;
  /** RFC 6381 string where the codec name is ambiguous, as for AAC. */
  codecString?: string;
}
export interface SubtitleRendition extends SubtitleOptions {
  id: string;
}

/**
 * The plan that playlists, workers and segments follow. It is stored as JSON in the session's row and never changes.
 */
export interface StreamPlan {
  version: 1;
  mode: 'copy' | 'encode';
  container: 'fmp4' | 'ts';
  source: { fileId: string; storageId: string; path: string; container: string; version: string; startMs: number };
  durationMs: number;
  startMs: number;
  /** Segment starts in ms when copying. Encoded segments start every 2 seconds. */
  boundaries?: number[] | undefined;
  /** Frame clock of the encoded video. */
  rate?: Rate | undefined;
  /** Offset of the frames from multiples of the frame length, in clock ticks: at most half a frame. */
  phase: number;
  video: VideoRendition[];
  audio: AudioRendition[];
  subtitles: SubtitleRendition[];
}

export const GRID_MS = 2000;
/** A shorter rest belongs to the last segment, because it might contain no picture. */
const SHORTEST_TAIL_MS = 500;
const MAX_AUDIO = 16;
const MAX_SUBTITLES = 32;
const MAX_VARIANTS = 4;

/** Makes a plan. The same input gives the same plan, playlists and addresses on every server. */
export function planOf(options: StreamOptions, source: PlanSource): StreamPlan {
  const { storageId, path, container, version, startMs } = source;
  return {
    version: 1,
    mode: options.mode,
    container: options.container,
    source: { fileId: options.fileId, storageId, path, container, version, startMs },
    durationMs: options.durationMs,
    startMs: Math.min(Math.max(options.startMs, 0), Math.max(options.durationMs - 1, 0)),
    ...clockOf(options, source),
    video: (options.video ?? []).slice(0, MAX_VARIANTS).map((video, i) => ({
      ...video,
      id: `v${i}`,
      codecString: video.action === 'copy' ? copiedCodec(video, source) : encodedCodec(video),
    })),
    audio: options.audio.slice(0, MAX_AUDIO).map((audio, i) => ({
      ...audio,
      ...(audio.action === 'encode' ? { codec: 'aac' } : aacKind(audio, source)), // the audio grid is AAC's
      id: `a${i}`,
    })),
    subtitles: options.subtitles.slice(0, MAX_SUBTITLES).map((subtitle, i) => ({ ...subtitle, id: `s${i}` })),
  };
}

function clockOf(options: StreamOptions, source: PlanSource): Pick<StreamPlan, 'boundaries' | 'rate' | 'phase'> {
  const first = options.video?.[0];
  if (!first) return { phase: 0 };
  const keyframes = source.keyframes ?? [];
  if (options.mode === 'copy') return { phase: 0, boundaries: copyBoundaries(keyframes, options.durationMs) };
  const rate = exactRate(first.frameRate);
  return { rate, phase: phaseOf(keyframes[0] ?? 0, rate) };
}

/** Source keyframes at least 2 seconds apart. The first segment starts at 0 even without a keyframe there. */
export function copyBoundaries(keyframes: readonly number[], durationMs: number): number[] {
  const starts = [0];
  for (const at of keyframes) {
    const last = starts[starts.length - 1] ?? 0;
    if (at >= last + GRID_MS && at <= durationMs - SHORTEST_TAIL_MS) starts.push(at);
  }
  return starts;
}

/** Offset in ticks of the first picture from the frame grid, in (-half a frame, half a frame]. */
export function phaseOf(firstMs: number, rate: Rate): number {
  const off = Math.round((firstMs * rate.num) / 1000) % rate.den;
  return off > rate.den / 2 ? off - rate.den : off;
}

export function segmentCount(plan: StreamPlan): number {
  if (plan.boundaries) return plan.boundaries.length;
  const whole = Math.ceil(plan.durationMs / GRID_MS);
  const tail = plan.durationMs - (whole - 1) * GRID_MS;
  return Math.max(1, tail < SHORTEST_TAIL_MS ? whole - 1 : whole);
}

/** Start of segment `n` in ms; the end of the file after the last segment. */
export function segmentStartMs(plan: StreamPlan, n: number): number {
  if (n >= segmentCount(plan)) return plan.durationMs;
  return plan.boundaries ? (plan.boundaries[n] ?? plan.durationMs) : n * GRID_MS;
}

/** The segment that contains `ms`. */
export function segmentAt(plan: StreamPlan, ms: number): number {
  const last = segmentCount(plan) - 1;
  if (!plan.boundaries) return Math.min(Math.max(Math.floor(ms / GRID_MS), 0), last);
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((plan.boundaries[middle] ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** First frame of encoded segment `n`, counted from the beginning of the film, so that a seek finds the same frames. */
export function firstFrame(plan: StreamPlan, n: number): number {
  const { num, den } = plan.rate ?? { num: 1000, den: 1 };
  return Math.ceil((segmentStartMs(plan, n) * (num / 1000) - plan.phase) / den - 1e-9);
}

/** Rate of encoded audio. Frames lie on a grid of 1024 samples from the beginning of the film. */
export const SAMPLE_RATE = 48_000;
export const FRAME_SAMPLES = 1024;

/** First AAC frame of segment `n` on the grid of 1024 samples. */
export function firstAudioFrame(plan: StreamPlan, n: number): number {
  return Math.ceil((segmentStartMs(plan, n) * (SAMPLE_RATE / 1000)) / FRAME_SAMPLES - 1e-9);
}

/** Clock of transport streams at the beginning of the film, so that no decode time is below 0. */
export const TRANSPORT_OFFSET_MS = 10_000;

export function renditionOf(plan: StreamPlan, id: string): 'video' | 'audio' | 'subtitle' | undefined {
  if (plan.video.some((video) => video.id === id)) return 'video';
  if (plan.audio.some((audio) => audio.id === id))
    return plan.container === 'ts' && plan.video.length > 0 ? undefined : 'audio';
  return plan.subtitles.some((subtitle) => subtitle.id === id) ? 'subtitle' : undefined;
}

const LEVELS: readonly [level: number, maxBlocks: number, blocksPerSecond: number, maxBitrate: number][] = [
  [30, 1620, 40_500, 12_500_000],
  [31, 3600, 108_000, 17_500_000],
  [32, 5120, 216_000, 25_000_000],
  [40, 8192, 245_760, 25_000_000],
  [41, 8192, 245_760, 62_500_000],
  [42, 8704, 522_240, 62_500_000],
  [50, 22_080, 589_824, 168_750_000],
  [51, 36_864, 983_040, 300_000_000],
  [52, 36_864, 2_073_600, 300_000_000],
  [60, 139_264, 4_177_920, 300_000_000],
];

/** Smallest H.264 level (High profile) for the picture. ffmpeg gets it too, so CODECS is known before encoding. */
export function h264Level(video: Pick<VideoOptions, 'width' | 'height' | 'frameRate' | 'bitrate'>): number {
  const blocks = Math.ceil(video.width / 16) * Math.ceil(video.height / 16);
  const perSecond = (blocks * exactRate(video.frameRate).num) / exactRate(video.frameRate).den;
  const fits = LEVELS.find(
    ([, max, speed, bits]) => blocks <= max && perSecond <= speed && video.bitrate * 1.5 <= bits,
  );
  return fits?.[0] ?? 62;
}

function encodedCodec(video: VideoOptions): string {
  return `avc1.6400${h264Level(video).toString(16).padStart(2, '0')}`;
}

const PLAIN: Record<string, string> = { h264: 'avc1.640028', hevc: 'hvc1.2.4.L120.B0', av1: 'av01.0.08M.08' };

function aacKind({ codec, streamIndex }: AudioOptions, { codecStrings }: PlanSource): { codecString?: string } {
  const codecString = codecStrings?.[streamIndex];
  return codec === 'aac' && codecString?.startsWith('mp4a.40.') ? { codecString } : {};
}

function copiedCodec(video: VideoOptions, source: PlanSource): string {
  return (
    source.codecStrings?.[video.streamIndex]?.replace(/^hev1/, 'hvc1') ?? PLAIN[video.sourceCodec] ?? 'avc1.640028'
  );
}
