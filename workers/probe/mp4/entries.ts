import type { Hdr, ProbedStream } from '#platform/media.ts';
import { type AudioFacts, aacFacts, ac3Facts, flacFacts, opusFacts, usualLayout } from '../codecs/audio.ts';
import { av1Facts } from '../codecs/av1.ts';
import { avcFacts } from '../codecs/avc.ts';
import { hevcFacts } from '../codecs/hevc.ts';
import { pixelFormat, type VideoFacts } from '../codecs/video.ts';
import { unsure } from '../fault.ts';
import { box, boxes, need } from './boxes.ts';

const VIDEO_HEAD = 78;
const AUDIO_HEAD = 28;
const PQ = 16;
const HLG = 18;
/** Object types of MPEG-2 and MPEG-1 layer 3. */
const MP3 = new Set([0x69, 0x6b]);

type Facts = Partial<ProbedStream> & { codec: string };

interface SampleEntry {
  type: string;
  data: Buffer;
}

/** The only sample description of a track; several are left to ffprobe. */
export function entryOf(stbl: Buffer): SampleEntry {
  const entries = [...boxes(need(stbl, 'stsd').subarray(8))];
  const [entry] = entries;
  if (!entry || entries.length > 1) unsure('sample descriptions');
  return entry;
}

/** Codec facts of a video track. */
export function videoEntry({ type, data }: SampleEntry): Facts {
  if (data.length < VIDEO_HEAD) unsure('video entry');
  const size = { width: data.readUInt16BE(24), height: data.readUInt16BE(26) };
  const inner = data.subarray(VIDEO_HEAD);
  if (box(inner, 'pasp') && unevenPixels(need(inner, 'pasp'))) unsure('pixel shape');
  const { codec, facts } = pictureFacts(type, inner);
  const { transfer, ...rest } = facts;
  const hdr = hdrOf(inner, transfer ?? colourTransfer(inner));
  return { ...size, ...rest, codec, ...(hdr === undefined ? {} : { hdr }) };
}

function unevenPixels(pasp: Buffer): boolean {
  return pasp.length >= 8 && pasp.readUInt32BE(0) !== pasp.readUInt32BE(4);
}

function pictureFacts(type: string, inner: Buffer): { codec: string; facts: VideoFacts } {
  switch (type) {
    case 'avc1':
    case 'avc3':
      return { codec: 'h264', facts: avcFacts(need(inner, 'avcC')) };
    case 'hvc1':
    case 'hev1':
    case 'dvh1':
    case 'dvhe':
      return { codec: 'hevc', facts: hevcFacts(need(inner, 'hvcC')) };
    case 'av01':
      return { codec: 'av1', facts: coloured(av1Facts(need(inner, 'av1C')), inner) };
    case 'vp09':
      return { codec: 'vp9', facts: vpcFacts(need(inner, 'vpcC')) };
    default:
      return unsure(type);
  }
}

/** AV1 stores colours in frames: above 8 bits the container must declare them. */
function coloured(facts: VideoFacts, inner: Buffer): VideoFacts {
  if ((facts.bitDepth ?? 8) > 8 && colourTransfer(inner) === undefined) unsure('colours');
  return facts;
}

function vpcFacts(vpcc: Buffer): VideoFacts {
  const [profile = 0, level = 0, depths = 0] = vpcc.subarray(4);
  const bitDepth = depths >> 4;
  const sampling = (depths >> 1) & 7;
  if (vpcc[0] !== 1 || bitDepth < 8) unsure('vpcC');
  const two = (value: number): string => String(value).padStart(2, '0');
  return {
    profile: `Profile ${profile}`,
    bitDepth,
    pixelFormat: pixelFormat(sampling < 2 ? 1 : sampling, bitDepth),
    interlaced: false,
    transfer: vpcc[8] ?? 2,
    codecString: `vp09.${two(profile)}.${two(level || 10)}.${two(bitDepth)}`,
  };
}

function colourTransfer(inner: Buffer): number | undefined {
  const colr = box(inner, 'colr');
  const kind = colr?.toString('latin1', 0, 4);
  return colr && colr.length >= 10 && (kind === 'nclx' || kind === 'nclc') ? colr.readUInt16BE(6) : undefined;
}

function hdrOf(inner: Buffer, transfer: number | undefined): Hdr | undefined {
  if (box(inner, 'dvcC') ?? box(inner, 'dvvC')) return 'dolby-vision';
  if (transfer === PQ) return 'hdr10';
  return transfer === HLG ? 'hlg' : undefined;
}

/** Codec facts of an audio track. */
export function audioEntry({ type, data }: SampleEntry): Facts {
  if (data.length < AUDIO_HEAD || data.readUInt16BE(8) !== 0) unsure('audio entry version');
  const channels = data.readUInt16BE(16);
  const layout = usualLayout(channels);
  const { codec, ...facts } = soundFacts(type, data.subarray(AUDIO_HEAD));
  const declared = {
    channels,
    sampleRate: data.readUInt16BE(24),
    ...(layout === undefined ? {} : { channelLayout: layout }),
  };
  return { ...declared, ...facts, codec };
}

function soundFacts(type: string, inner: Buffer): AudioFacts & { codec: string } {
  switch (type) {
    case 'mp4a':
      return esdsFacts(need(inner, 'esds'));
    case 'ac-3':
      return { codec: 'ac3', ...dac3Facts(need(inner, 'dac3')) };
    case 'Opus':
      return { codec: 'opus', ...opusFacts(need(inner, 'dOps')) };
    case 'fLaC':
      return { codec: 'flac', ...flacFacts(need(inner, 'dfLa')) };
    default:
      return unsure(type);
  }
}

/** dac3 has the same fields as a frame in another order: converted to one and parsed. */
function dac3Facts(dac3: Buffer): AudioFacts {
  const bits = dac3.readUIntBE(0, 3);
  const [rate, version, mode] = [bits >> 22, (bits >> 17) & 31, (bits >> 11) & 7];
  const [low, code] = [(bits >> 10) & 1, (bits >> 5) & 31];
  const frame = Buffer.alloc(32);
  frame.writeUInt16BE(0x0b77, 0);
  frame[4] = (rate << 6) | (code << 1);
  frame[5] = version << 3;
  const mixes = (mode & 1 && mode !== 1 ? 2 : 0) + (mode & 4 ? 2 : 0) + (mode === 2 ? 2 : 0);
  frame.writeUInt16BE((mode << 13) | (low << (12 - mixes)), 6);
  return ac3Facts(frame);
}

/** Walks the descriptors of esds (3, 4, 5) to the codec and the AudioSpecificConfig; rare object types are left to ffprobe. */
function esdsFacts(esds: Buffer): AudioFacts & { codec: string } {
  const stream = descriptor(esds.subarray(4), 3) ?? unsure('esds');
  const decoder = descriptor(stream.subarray(3 + extras(stream)), 4) ?? unsure('esds decoder');
  const [object = 0] = decoder;
  if (MP3.has(object)) return { codec: 'mp3', codecString: 'mp4a.40.34' };
  if (object !== 0x40) unsure('mp4a object type');
  return { codec: 'aac', ...aacFacts(descriptor(decoder.subarray(13), 5) ?? unsure('esds config')) };
}

function extras(stream: Buffer): number {
  const flags = stream[2] ?? 0;
  return (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (stream[3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
}

function descriptor(bytes: Buffer, tag: number): Buffer | undefined {
  if (bytes[0] !== tag) return undefined;
  let size = 0;
  let at = 1;
  for (let more = true; more && at < 5; at += 1) {
    const byte = bytes[at] ?? 0;
    size = size * 128 + (byte & 127);
    more = (byte & 128) !== 0;
  }
  return bytes.subarray(at, at + size);
}
