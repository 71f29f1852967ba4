import type { Hdr } from '#platform/media.ts';
import type { Timing } from '#platform/subtitles/timing.ts';
import { aacKind, copiedCodec, encodedCodec } from './codecs.ts';
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
  /** Format of the segments. In `ts` each segment contains the video and the first audio track. */
  container: 'fmp4' | 'ts';
  durationMs: number;
  /** The start position of the viewer. */
  startMs: number;
  /** Up to four variants of the video, the chosen one first. Absent for audio only. */
  video?: VideoOptions[];
  audio: AudioOptions[];
  subtitles: SubtitleOptions[];
}

/** One variant of the video. Width, height and bitrate (bits per second) are those of the result. */
export interface VideoOptions {
  /** Index of the stream in the file, as ffprobe numbers it. */
  streamIndex: number;
  action: 'copy' | 'encode';
  sourceCodec: string;
  codec: string;
  width: number;
  height: number;
  /** Frames per second, rounded by the probe: see `exactRate`. */
  frameRate: number;
  bitrate: number;
  /** Maps HDR to SDR. */
  toneMap: boolean;
  /** Transfer of the tone-mapped HDR picture, which its frames do not always contain. */
  transfer?: 'pq' | 'hlg' | undefined;
  deinterlace: boolean;
  rotation?: number | undefined;
  /** HDR format of a copied stream; an encoded one is SDR. */
  hdr?: Hdr | undefined;
  burnIn?: BurnIn | undefined;
}

/** The subtitle that is drawn into the picture. */
export interface BurnIn {
  /** Identifies the track in the API. */
  streamId?: string | undefined;
  streamIndex: number;
  /** Index among the embedded subtitles, from 0. */
  number: number;
  kind: 'text' | 'picture';
  /** A sidecar file in the same storage. */
  path?: string | undefined;
  /** Language of that file, to guess a legacy encoding. */
  language?: string | undefined;
  /** Key in the bucket `foyer-subtitles` of a text that the server keeps. */
  keptKey?: string | undefined;
  /** Correction of the text; absent is its own timing. */
  timing?: Timing | undefined;
}

/** One audio track. `streamId` identifies it in the API, `streamIndex` in the file. */
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
  /** Absent for a sidecar file. */
  streamIndex?: number | undefined;
  /** A sidecar file in the same storage. */
  externalPath?: string | undefined;
  /** Key in the bucket `foyer-subtitles` of a text that the server keeps. */
  keptKey?: string | undefined;
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
  /** Times of the video's keyframes in ms on the plan's clock, in ascending order. */
  keyframes?: number[] | undefined;
  /** RFC 6381 strings by stream index, as far as the probe found them. */
  codecStrings?: Record<number, string> | undefined;
}

export interface VideoRendition extends VideoOptions {
  /** `v0` to `v3`; audio has `a0`…, subtitles `s0`…. Addresses and playlists use it, and its letter gives the kind. */
  id: string;
  /** RFC 6381 string for CODECS. */
  codecString: string;
}
export interface AudioRendition extends AudioOptions {
  id: string;
  /** RFC 6381 string where the codec name is ambiguous, as for AAC. */
  codecString?: string;
}
export interface SubtitleRendition extends SubtitleOptions {
  id: string;
  /** The text is gone since the plan was made: it keeps its number and is not listed. */
  removed?: boolean | undefined;
}

/**
 * The plan that playlists, workers and segments follow. It is stored as JSON in the session's row. Only its
 * subtitles change: one may come at the end, be marked as removed, or become the default.
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
  /** Frame rate of the encoded video; absent when no video is encoded. */
  rate?: Rate | undefined;
  /** Offset of the frames from multiples of the frame length, in ticks of `rate`: at most half a frame. */
  phase: number;
  video: VideoRendition[];
  audio: AudioRendition[];
  subtitles: SubtitleRendition[];
}

/** Length of an encoded segment, and the shortest of a copied one except the last. */
export const GRID_MS = 2000;
/** A shorter rest belongs to the last segment, because it might contain no picture. */
const SHORTEST_TAIL_MS = 500;
const MAX_AUDIO = 16;
export const MAX_SUBTITLES = 32;
const MAX_VARIANTS = 4;

/** Makes a plan. The same input gives the same plan, playlists and addresses on every server. */
export function planOf(options: StreamOptions, source: PlanSource): StreamPlan {
  const { storageId, path, container, version, startMs, codecStrings } = source;
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
      codecString: video.action === 'copy' ? copiedCodec(video, codecStrings) : encodedCodec(video),
    })),
    audio: options.audio.slice(0, MAX_AUDIO).map((audio, i) => ({
      ...audio,
      ...(audio.action === 'encode' ? { codec: 'aac' } : aacKind(audio, codecStrings)), // the audio grid is AAC's
      id: `a${i}`,
    })),
    subtitles: options.subtitles.slice(0, MAX_SUBTITLES).map((subtitle, i) => ({ ...subtitle, id: `s${i}` })),
  };
}

/** Where segments and frames start: keyframes of a copied video, a fixed grid of an encoded one and of audio only. */
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
    const last = starts.at(-1) ?? 0;
    if (at >= last + GRID_MS && at <= durationMs - SHORTEST_TAIL_MS) starts.push(at);
  }
  return starts;
}

/**
 * Offset in ticks of the first picture, at `firstMs`, from the nearest multiple of the frame length (`den` ticks): more
 * than minus half a frame, at most half a frame.
 */
export function phaseOf(firstMs: number, rate: Rate): number {
  const off = Math.round((firstMs * rate.num) / 1000) % rate.den;
  return off > rate.den / 2 ? off - rate.den : off;
}

/** Number of segments, at least 1. Segments are numbered from 0. */
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

/** Number of the segment that contains `ms`; a time outside of the file gives the first or last one. */
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

/** Keeps an exact quotient that floating point made slightly larger from being rounded up. */
const ROUNDING = 1e-9;

/** First frame of encoded segment `n`, counted from the beginning of the film, so that a seek finds the same frames. */
export function firstFrame(plan: StreamPlan, n: number): number {
  const { num, den } = plan.rate ?? { num: 1000, den: 1 };
  return Math.ceil((segmentStartMs(plan, n) * (num / 1000) - plan.phase) / den - ROUNDING);
}

/** Rate of encoded audio in Hz. */
export const SAMPLE_RATE = 48_000;
/** Samples of an AAC frame. Encoded frames lie on this grid from the beginning of the film. */
export const FRAME_SAMPLES = 1024;

/** First AAC frame of segment `n`, counted like `firstFrame`. */
export function firstAudioFrame(plan: StreamPlan, n: number): number {
  return Math.ceil((segmentStartMs(plan, n) * (SAMPLE_RATE / 1000)) / FRAME_SAMPLES - ROUNDING);
}

/** Clock of transport streams at the beginning of the film, so that no decode time is below 0. */
export const TRANSPORT_OFFSET_MS = 10_000;

/**
 * Kind of the rendition with this id. Undefined for an unknown id, and for audio that exists only inside the transport
 * stream of the video.
 */
export function renditionOf(plan: StreamPlan, id: string): 'video' | 'audio' | 'subtitle' | undefined {
  if (plan.video.some((video) => video.id === id)) return 'video';
  const isAudioMuxed = plan.container === 'ts' && plan.video.length > 0;
  if (plan.audio.some((audio) => audio.id === id)) return isAudioMuxed ? undefined : 'audio';
  return plan.subtitles.some((subtitle) => subtitle.id === id) ? 'subtitle' : undefined;
}
