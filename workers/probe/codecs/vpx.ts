import { unsure } from '../fault.ts';
import { Bits } from './bits.ts';
import { pixelFormat, type VideoFacts } from './video.ts';

const two = (value: number): string => String(value).padStart(2, '0');
const SYNC = 0x498342;
const RGB = 7;

/** Reads the uncompressed header of a VP9 keyframe. */
export function vp9Facts(frame: Uint8Array): VideoFacts {
  const bits = new Bits(frame);
  if (bits.read(2) !== 2) unsure('vp9 frame');
  const profile = bits.bit() + bits.bit() * 2;
  if (profile === 3) bits.skip(1);
  const shown = bits.flag();
  const inter = bits.flag();
  bits.skip(2);
  if (shown || inter || bits.read(24) !== SYNC) unsure('vp9 keyframe');
  const bitDepth = profile < 2 ? 8 : bits.flag() ? 12 : 10;
  const { chroma, full } = colours(bits, profile);
  return {
    profile: `Profile ${profile}`,
    bitDepth,
    pixelFormat: pixelFormat(chroma, bitDepth, full),
    interlaced: false,
    codecString: `vp09.${two(profile)}.10.${two(bitDepth)}`,
  };
}

function colours(bits: Bits, profile: number): { chroma: number; full: boolean } {
  const space = bits.read(3);
  if (space === RGB) unsure('vp9 rgb');
  const full = bits.flag();
  if (profile % 2 === 0) return { chroma: 1, full: false };
  const [x, y] = [bits.flag(), bits.flag()];
  if (y) unsure('vp9 4:4:0');
  return { chroma: x ? 2 : 3, full };
}

/** Reads the tag of a VP8 keyframe. */
export function vp8Facts(frame: Uint8Array): VideoFacts {
  const first = frame[0] ?? 1;
  if (first & 1 || frame[3] !== 0x9d || frame[4] !== 0x01) unsure('vp8 keyframe');
  return {
    profile: String((first >> 1) & 7),
    bitDepth: 8,
    pixelFormat: 'yuv420p',
    interlaced: false,
    codecString: 'vp8',
  };
}
