import { unsure } from '../fault.ts';
import { Bits, unescaped } from './bits.ts';
import { hex, pixelFormat, type VideoFacts } from './video.ts';

const PROFILES: Readonly<Record<number, string>> = {
  44: 'CAVLC 4:4:4',
  66: 'Baseline',
  77: 'Main',
  88: 'Extended',
  100: 'High',
  110: 'High 10',
  122: 'High 4:2:2',
  244: 'High 4:4:4 Predictive',
};
const WITH_CHROMA = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Reads an AVCDecoderConfigurationRecord (avcC, CodecPrivate of V_MPEG4/ISO/AVC). */
export function avcFacts(config: Uint8Array): VideoFacts {
  const [version = 0, , , , , sets = 0, high = 0, low = 0] = config;
  const length = high * 256 + low;
  if (version !== 1 || (sets & 31) < 1 || config.length < 8 + length || length < 4) unsure('avcC');
  const facts = spsFacts(config.subarray(8, 8 + length));
  facts.codecString = `avc1.${[...config.subarray(1, 4)].map((byte) => hex(byte, 2)).join('')}`.toLowerCase();
  return facts;
}

/** Reads a sequence parameter set, NAL header included. */
export function spsFacts(nal: Uint8Array): VideoFacts {
  const bits = new Bits(unescaped(nal.subarray(1)));
  const idc = bits.read(8);
  const constraints = bits.read(8);
  const level = bits.read(8);
  bits.ue();
  const { chroma, bitDepth } = WITH_CHROMA.has(idc) ? chromaOf(bits) : { chroma: 1, bitDepth: 8 };
  skipOrder(bits);
  bits.ue();
  bits.skip(1);
  const width = (bits.ue() + 1) * 16;
  const mapUnits = bits.ue() + 1;
  const framesOnly = bits.flag();
  // Field or adaptive coding means only that a picture may be interlaced: ffprobe examines the pictures.
  if (!framesOnly) unsure('field coding');
  bits.skip(1);
  const crop = cropOf(bits, chroma);
  const colour = bits.flag() ? colourOf(bits) : {};
  if (bits.over) unsure('sps');
  return {
    profile: profileOf(idc, constraints),
    level,
    width: width - crop.x,
    height: mapUnits * 16 - crop.y,
    bitDepth,
    pixelFormat: pixelFormat(chroma, bitDepth, colour.full),
    interlaced: false,
    ...(colour.transfer === undefined ? {} : { transfer: colour.transfer }),
  };
}

function profileOf(idc: number, constraints: number): string {
  if (idc === 66 && constraints & 0x40) return 'Constrained Baseline';
  const intra = constraints & 0x10 && (idc === 110 || idc === 122);
  return `${PROFILES[idc] ?? unsure('avc profile')}${intra ? ' Intra' : ''}`;
}

function chromaOf(bits: Bits): { chroma: number; bitDepth: number } {
  const chroma = bits.ue();
  if (chroma === 3) bits.skip(1);
  const bitDepth = bits.ue() + 8;
  bits.ue();
  bits.skip(1);
  const lists = bits.flag() ? (chroma === 3 ? 12 : 8) : 0;
  for (let i = 0; i < lists; i += 1) {
    if (bits.flag()) skipList(bits, i < 6 ? 16 : 64);
  }
  return { chroma, bitDepth };
}

function skipList(bits: Bits, size: number): void {
  let last = 8;
  let next = 8;
  for (let i = 0; i < size && next !== 0; i += 1) {
    next = (last + bits.se() + 256) % 256;
    last = next === 0 ? last : next;
  }
}

function skipOrder(bits: Bits): void {
  bits.ue();
  const type = bits.ue();
  if (type === 0) bits.ue();
  if (type !== 1) return;
  bits.skip(1);
  bits.se();
  bits.se();
  const cycle = bits.ue();
  for (let i = 0; i < cycle && !bits.over; i += 1) bits.se();
}

function cropOf(bits: Bits, chroma: number): { x: number; y: number } {
  if (!bits.flag()) return { x: 0, y: 0 };
  const horizontal = bits.ue() + bits.ue();
  const vertical = bits.ue() + bits.ue();
  return { x: horizontal * (chroma === 1 || chroma === 2 ? 2 : 1), y: vertical * (chroma === 1 ? 2 : 1) };
}

/** The head of the VUI, as far as the colours. */
export function colourOf(bits: Bits): { full?: boolean; transfer?: number } {
  if (bits.flag() && bits.read(8) === 255) bits.skip(32);
  if (bits.flag()) bits.skip(1);
  if (!bits.flag()) return {};
  bits.skip(3);
  const full = bits.flag();
  if (!bits.flag()) return { full };
  bits.skip(8);
  return { full, transfer: bits.read(8) };
}
