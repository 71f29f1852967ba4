import { box, boxStart, fullBox, u32, u64 } from './boxes.ts';
import type { Sample } from './fragments.ts';

const TRACK = 1;
const KEY = 0x0200_0000;
const NOT_KEY = 0x0101_0000;

export interface SegmentShape {
  sequence: number;
  /** End of the last sample; default: by its own duration. For a segment without samples: its position. */
  end?: number | undefined;
  /** Ticks between decoding and presentation; more if the order of the pictures requires it. */
  delay?: number | undefined;
}

/**
 * One segment: `moof` and `mdat`. Decode times are derived from the ordered presentation times, not from ffmpeg's guess
 * after a seek, so that the same samples give the same bytes. Offsets are never negative, because ffmpeg's reader, and
 * players built on it, would show the picture late.
 */
export function segmentBytes(samples: readonly Sample[], { sequence, end, delay = 0 }: SegmentShape): Buffer {
  const shown = samples.map((sample) => sample.pts).sort((a, b) => a - b);
  const behind = Math.max(delay, ...samples.map((sample, i) => (shown[i] ?? 0) - sample.pts));
  const after = end ?? (shown.at(-1) ?? 0) + (samples.at(-1)?.duration ?? 0);
  // Players take the first decode time for the segment's place in the playlist (hls.js does), so nothing is decoded before the
  // first picture is shown: the first ones are decoded close together. Of an open group some are shown before its keyframe.
  const begin = Math.max(0, Math.min(after, ...samples.map((sample, i) => sample.pts - i)));
  const times = [...shown, after].map((pts, i) => Math.max(pts - behind, begin + i));
  const entries = samples.map((sample, i) => {
    const dts = times[i] ?? 0;
    return u32((times[i + 1] ?? 0) - dts, sample.size, sample.key ? KEY : NOT_KEY, sample.pts - dts);
  });
  const moof = (dataOffset: number): Buffer =>
    box(
      'moof',
      fullBox('mfhd', {}, u32(sequence)),
      box(
        'traf',
        fullBox('tfhd', { flags: 0x02_0000 }, u32(TRACK)),
        fullBox('tfdt', { version: 1 }, u64(times[0] ?? 0)),
        fullBox('trun', { version: 1, flags: 0xf01 }, u32(samples.length, dataOffset), ...entries),
      ),
    );
  const length = moof(0).length;
  const data = samples.flatMap((sample) => sample.data);
  return Buffer.concat([moof(length + 8), boxStart('mdat', data), ...data]);
}
