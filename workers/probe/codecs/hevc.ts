import { unsure } from '../fault.ts';
import { colourOf } from './avc.ts';
import { Bits, unescaped } from './bits.ts';
import { hex, pixelFormat, type VideoFacts } from './video.ts';

const PROFILES: Readonly<Record<number, string>> = { 1: 'Main', 2: 'Main 10', 3: 'Main Still Picture', 4: 'Rext' };
const SPS = 33;

/** Reads an HEVCDecoderConfigurationRecord (hvcC, CodecPrivate of V_MPEGH/ISO/HEVC). */
export function hevcFacts(config: Uint8Array): VideoFacts {
  if (config.length < 23 || config[0] !== 1) unsure('hvcC');
  const sps = firstNal(config, SPS) ?? unsure('hvcC without a parameter set');
  return { ...hevcSpsFacts(sps), codecString: codecString(config) };
}

function firstNal(config: Uint8Array, type: number): Uint8Array | undefined {
  const view = Buffer.from(config.buffer, config.byteOffset, config.byteLength);
  let at = 23;
  for (let arrays = view[22] ?? 0; arrays > 0 && at + 5 <= view.length; arrays -= 1) {
    const kind = (view[at] ?? 0) & 63;
    let count = view.readUInt16BE(at + 1);
    at += 3;
    for (; count > 0 && at + 2 <= view.length; count -= 1) {
      const length = view.readUInt16BE(at);
      if (kind === type) return view.subarray(at + 2, at + 2 + length);
      at += 2 + length;
    }
  }
  return undefined;
}

/** RFC 6381 as in ISO 14496-15 annex E: profile, reversed compatibility flags, tier and level, constraint bytes. */
function codecString(config: Uint8Array): string {
  const first = config[1] ?? 0;
  const space = ['', 'A', 'B', 'C'][first >> 6] ?? '';
  let reversed = 0;
  for (let i = 0; i < 32; i += 1) if ((config[2 + (i >> 3)] ?? 0) & (0x80 >> (i & 7))) reversed += 2 ** i;
  const constraints = [...config.subarray(6, 12)].map((byte) => hex(byte, 1));
  while (constraints.at(-1) === '0') constraints.pop();
  const tier = first & 0x20 ? 'H' : 'L';
  return ['hvc1', `${space}${first & 31}`, hex(reversed, 1), `${tier}${config[12] ?? 0}`, ...constraints].join('.');
}

/** Reads a sequence parameter set, its two bytes of NAL header included. */
export function hevcSpsFacts(nal: Uint8Array): VideoFacts {
  const bits = new Bits(unescaped(nal.subarray(2)));
  bits.skip(4);
  const layers = bits.read(3);
  bits.skip(1);
  const { profile, level, interlaced } = tierLevel(bits, layers);
  bits.ue();
  const chroma = bits.ue();
  if (chroma === 3) bits.skip(1);
  const size = { width: bits.ue(), height: bits.ue() };
  const unit = { x: chroma === 1 || chroma === 2 ? 2 : 1, y: chroma === 1 ? 2 : 1 };
  if (bits.flag()) {
    size.width -= (bits.ue() + bits.ue()) * unit.x;
    size.height -= (bits.ue() + bits.ue()) * unit.y;
  }
  const bitDepth = bits.ue() + 8;
  const transfer = transferOf(bits, layers);
  if (bits.over) unsure('hevc sps');
  const facts = { profile, level, ...size, bitDepth, pixelFormat: pixelFormat(chroma, bitDepth), interlaced };
  return transfer === undefined ? facts : { ...facts, transfer };
}

function tierLevel(bits: Bits, layers: number): { profile: string; level: number; interlaced: boolean } {
  bits.skip(3);
  const idc = bits.read(5);
  bits.skip(32);
  const progressive = bits.flag();
  const interlaced = bits.flag();
  bits.skip(46);
  const level = bits.read(8);
  const present = Array.from({ length: layers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (layers > 0) bits.skip((8 - layers) * 2);
  for (const layer of present) bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0));
  return { profile: PROFILES[idc] ?? unsure('hevc profile'), level, interlaced: interlaced && !progressive };
}

/** From after the luma depth to the transfer characteristics of the VUI. */
function transferOf(bits: Bits, layers: number): number | undefined {
  bits.ue();
  const pocBits = bits.ue() + 4;
  for (let i = bits.flag() ? 0 : layers; i <= layers; i += 1) {
    bits.ue();
    bits.ue();
    bits.ue();
  }
  for (let i = 0; i < 6; i += 1) bits.ue();
  if (bits.flag() && bits.flag()) skipScalingLists(bits);
  bits.skip(2);
  if (bits.flag()) skipPcm(bits);
  skipReferenceSets(bits);
  if (bits.flag()) bits.skip(bits.ue() * (pocBits + 1));
  bits.skip(2);
  return bits.flag() ? colourOf(bits).transfer : undefined;
}

function skipPcm(bits: Bits): void {
  bits.skip(8);
  bits.ue();
  bits.ue();
  bits.skip(1);
}

function skipScalingLists(bits: Bits): void {
  for (let size = 0; size < 4; size += 1) {
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) skipScalingList(bits, size);
  }
}

function skipScalingList(bits: Bits, size: number): void {
  if (!bits.flag()) {
    bits.ue();
    return;
  }
  if (size > 1) bits.se();
  for (let i = 0; i < Math.min(64, 1 << (4 + size * 2)); i += 1) bits.se();
}

/** Each set may be predicted from the previous one, so the picture distances must be tracked. */
function skipReferenceSets(bits: Bits): void {
  const count = bits.ue();
  if (count > 64) unsure('reference sets');
  let distances: number[] = [];
  for (let set = 0; set < count; set += 1)
    distances = set > 0 && bits.flag() ? predicted(bits, distances) : listed(bits);
}

function predicted(bits: Bits, previous: readonly number[]): number[] {
  const negative = bits.flag();
  const shift = (bits.ue() + 1) * (negative ? -1 : 1);
  const distances: number[] = [];
  for (const base of [...previous, 0]) {
    const used = bits.flag();
    const kept = used || bits.flag();
    if (kept && base + shift !== 0) distances.push(base + shift);
  }
  return [
    ...distances.filter((d) => d < 0).sort((a, b) => b - a),
    ...distances.filter((d) => d > 0).sort((a, b) => a - b),
  ];
}

function listed(bits: Bits): number[] {
  const before = bits.ue();
  const after = bits.ue();
  if (before + after > 32) unsure('reference pictures');
  const distances: number[] = [];
  for (const [count, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    let distance = 0;
    for (let i = 0; i < count; i += 1) {
      distance += (bits.ue() + 1) * sign;
      distances.push(distance);
      bits.skip(1);
    }
  }
  return distances;
}
