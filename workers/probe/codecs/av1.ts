import { unsure } from '../fault.ts';
import { Bits } from './bits.ts';
import { pixelFormat, type VideoFacts } from './video.ts';

const PROFILES = ['Main', 'High', 'Professional'];
const two = (value: number): string => String(value).padStart(2, '0');

/** Reads an AV1CodecConfigurationRecord (av1C, CodecPrivate of V_AV1). Size and colours come from the container. */
export function av1Facts(config: Uint8Array): VideoFacts {
  if (config.length < 4 || config[0] !== 0x81) unsure('av1C');
  const bits = new Bits(config.subarray(1, 3));
  const profile = bits.read(3);
  const level = bits.read(5);
  const tier = bits.flag();
  const high = bits.flag();
  const twelve = bits.flag();
  const mono = bits.flag();
  const [x, y] = [bits.flag(), bits.flag()];
  const bitDepth = twelve ? 12 : high ? 10 : 8;
  return {
    profile: PROFILES[profile] ?? unsure('av1 profile'),
    level,
    bitDepth,
    pixelFormat: pixelFormat(chromaOf(mono, x, y), bitDepth),
    interlaced: false,
    codecString: `av01.${profile}.${two(level)}${tier ? 'H' : 'M'}.${two(bitDepth)}`,
  };
}

function chromaOf(mono: boolean, x: boolean, y: boolean): number {
  if (mono) return 0;
  if (x) return y ? 1 : 2;
  return 3;
}
