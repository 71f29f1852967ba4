import type { ProbedStream } from '#platform/media.ts';
import { fitsProfiles } from '../media-words.ts';
import type { AudioSupport, PlaybackReason, VideoSupport } from '../playback.schemas.ts';

/** Reasons against playing a stream unchanged; empty when it can play. */
export type Faults = PlaybackReason[];

interface Bounds {
  maxWidth?: number | undefined;
  maxHeight?: number | undefined;
}

/** Faults against the closest support entry. */
export function videoFaults(stream: ProbedStream, supports: readonly VideoSupport[], bounds: Bounds): Faults {
  const same = supports.filter((support) => support.codec === stream.codec);
  const tried = same.map((support) => oneVideoFaults(stream, support, bounds));
  return fewest(tried) ?? ['video-codec-not-supported'];
}

function oneVideoFaults(stream: ProbedStream, support: VideoSupport, bounds: Bounds): Faults {
  const { width = 0, height = 0 } = stream;
  const checks: [PlaybackReason, boolean][] = [
    ['video-profile-not-supported', fitsProfile(stream, support)],
    ['video-level-not-supported', (stream.level ?? 0) <= (support.maxLevel ?? Infinity)],
    ['video-bit-depth-not-supported', (stream.bitDepth ?? 8) <= support.maxBitDepth],
    ['video-resolution-not-supported', fitsFrame({ width, height }, [support, bounds])],
    ['video-frame-rate-not-supported', (stream.frameRate ?? 0) <= (support.maxFrameRate ?? Infinity) * 1.01],
    ['video-hdr-not-supported', stream.hdr === undefined || support.hdr.includes(stream.hdr)],
    ['video-interlaced-not-supported', !stream.interlaced || support.interlaced],
  ];
  return checks.flatMap(([reason, fine]) => (fine ? [] : [reason]));
}

function fitsProfile(stream: ProbedStream, { profiles }: VideoSupport): boolean {
  return !profiles || stream.profile === undefined || fitsProfiles(stream.codec, stream.profile, profiles);
}

/** Rotated video fits where it fits after rotation. */
function fitsFrame({ width, height }: { width: number; height: number }, bounds: readonly Bounds[]): boolean {
  const fits = (one: number, other: number): boolean =>
    bounds.every(({ maxWidth = Infinity, maxHeight = Infinity }) => one <= maxWidth && other <= maxHeight);
  return fits(width, height) || fits(height, width);
}

/** Faults against the closest support entry. `maxChannels` is the player's own limit. */
export function audioFaults(stream: ProbedStream, supports: readonly AudioSupport[], maxChannels = 16): Faults {
  const same = supports.filter((support) => support.codec === stream.codec);
  const tried = same.map((support): Faults => {
    const channels = (stream.channels ?? 2) <= Math.min(support.maxChannels, maxChannels);
    const rate = (stream.sampleRate ?? 0) <= (support.maxSampleRate ?? Infinity);
    return [
      ...(channels ? [] : ['audio-channels-not-supported' as const]),
      ...(rate ? [] : ['audio-sample-rate-not-supported' as const]),
    ];
  });
  return fewest(tried) ?? ['audio-codec-not-supported'];
}

function fewest(tried: Faults[]): Faults | undefined {
  return tried.sort((a, b) => a.length - b.length)[0];
}
