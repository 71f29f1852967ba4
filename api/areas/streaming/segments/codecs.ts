import { exactRate } from './rate.ts';

/** RFC 6381 codec strings, which players compare with what they can decode before they load a segment. */

/**
 * Peak of the encoder's bitrate relative to its mean. The encoder, the level and the bandwidth in the playlists use it.
 */
export const PEAK = 1.5;

/** H.264 table A-1, with the bitrates of the High profile. Blocks are macroblocks of 16 by 16 pixels. */
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

interface Picture {
  width: number;
  height: number;
  /** Frames per second, rounded by the probe. */
  frameRate: number;
  /** Mean in bits per second. */
  bitrate: number;
}

/**
 * Smallest H.264 level (High profile) for the picture, as a number: 41 is level 4.1. ffmpeg gets it too, so CODECS is known
 * before encoding.
 */
export function h264Level({ width, height, frameRate, bitrate }: Picture): number {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const { num, den } = exactRate(frameRate);
  const perSecond = (blocks * num) / den;
  const fits = LEVELS.find(
    ([, maxBlocks, maxPerSecond, maxBitrate]) =>
      blocks <= maxBlocks && perSecond <= maxPerSecond && bitrate * PEAK <= maxBitrate,
  );
  return fits?.[0] ?? 62;
}

/** `avc1.`, the High profile (64), no constraints (00), and the level; all hexadecimal. */
export function encodedCodec(picture: Picture): string {
  return `avc1.6400${h264Level(picture).toString(16).padStart(2, '0')}`;
}

/** Strings by stream index, as far as the probe found them. */
type CodecStrings = Record<number, string> | undefined;

/** Common strings, for a copied video whose string the probe did not find. */
const COMMON: Record<string, string> = { h264: 'avc1.640028', hevc: 'hvc1.2.4.L120.B0', av1: 'av01.0.08M.08' };

/** Segments name HEVC `hvc1`, whatever the file names it. */
export function copiedCodec(video: { streamIndex: number; sourceCodec: string }, strings: CodecStrings): string {
  return strings?.[video.streamIndex]?.replace(/^hev1/, 'hvc1') ?? COMMON[video.sourceCodec] ?? 'avc1.640028';
}

/** The string of copied AAC, of which there are several kinds. Empty for other codecs, which have one string each. */
export function aacKind(
  { codec, streamIndex }: { codec: string; streamIndex: number },
  strings: CodecStrings,
): { codecString?: string } {
  const codecString = strings?.[streamIndex];
  return codec === 'aac' && codecString?.startsWith('mp4a.40.') ? { codecString } : {};
}
