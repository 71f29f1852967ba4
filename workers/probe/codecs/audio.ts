import { unsure } from '../fault.ts';
import { Bits } from './bits.ts';

/** Facts from an audio codec's own header. */
export interface AudioFacts {
  profile?: string;
  channels?: number;
  channelLayout?: string;
  sampleRate?: number;
  bitDepth?: number;
  bitrate?: number;
  codecString?: string;
}

const AAC_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350];
const AAC_CHANNELS = [0, 1, 2, 3, 4, 5, 6, 8];
const AAC_PROFILES: Readonly<Record<number, string>> = {
  1: 'Main',
  2: 'LC',
  5: 'HE-AAC',
  29: 'HE-AACv2',
  42: 'xHE-AAC',
};
const LAYOUTS: Readonly<Record<number, string>> = {
  1: 'mono',
  2: 'stereo',
  3: '3.0',
  4: '4.0',
  5: '5.0',
  6: '5.1',
  8: '7.1',
};

/** ffmpeg's name of the usual layout for a number of channels. */
export function usualLayout(channels: number): string | undefined {
  return LAYOUTS[channels];
}

function withLayout(facts: AudioFacts & { channels: number }, layout = LAYOUTS[facts.channels]): AudioFacts {
  return layout === undefined ? facts : { ...facts, channelLayout: layout };
}

/** Reads an AudioSpecificConfig. */
export function aacFacts(config: Uint8Array): AudioFacts {
  const bits = new Bits(config);
  const object = objectType(bits);
  const rate = rateOf(bits);
  const channels = AAC_CHANNELS[bits.read(4)] ?? 0;
  const extended = object === 5 || object === 29;
  const sampleRate = extended ? rateOf(bits) : rate;
  // A low rate may hide spectral band replication, and configuration 0 lists its channels: the decoder knows.
  const hidden = !extended && (rate <= 24_000 || replicated(bits));
  if (hidden || channels === 0) unsure('aac');
  const profile = AAC_PROFILES[object] ?? unsure('aac object type');
  return withLayout({ profile, channels: object === 29 ? 2 : channels, sampleRate, codecString: `mp4a.40.${object}` });
}

/** The extension that old players ignore begins with 0x2b7, followed by whether the band is replicated. */
function replicated(bits: Bits): boolean {
  bits.skip(1);
  if (bits.flag()) bits.skip(14);
  bits.skip(1);
  return bits.read(11) === 0x2b7 && objectType(bits) === 5 && bits.flag();
}

function objectType(bits: Bits): number {
  const type = bits.read(5);
  return type === 31 ? 32 + bits.read(6) : type;
}

function rateOf(bits: Bits): number {
  const index = bits.read(4);
  return index === 15 ? bits.read(24) : (AAC_RATES[index] ?? unsure('aac rate'));
}

const AC3_RATES = [48000, 44100, 32000];
const AC3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
/** Channels and layout by acmod, and with the low-frequency channel. */
const AC3_MODES = [
  ['stereo', '2.1'],
  ['mono', undefined],
  ['stereo', '2.1'],
  ['3.0', '3.1'],
  ['3.0(back)', undefined],
  ['4.0', '4.1'],
  ['quad(side)', undefined],
  ['5.0(side)', '5.1(side)'],
] as const;
const AC3_COUNT = [2, 1, 2, 3, 3, 4, 4, 5];

function modeOf(mode: number, low: boolean): { channels: number; channelLayout: string } {
  const channelLayout = AC3_MODES[mode]?.[low ? 1 : 0] ?? unsure('ac3 layout');
  return { channels: (AC3_COUNT[mode] ?? 0) + (low ? 1 : 0), channelLayout };
}

/** Reads the first AC-3 frame in some bytes. */
export function ac3Facts(frame: Buffer): AudioFacts {
  const bits = new Bits(frame.subarray(syncOf(frame) + 4));
  const sampleRate = AC3_RATES[bits.read(2)] ?? unsure('ac3 rate');
  const bitrate = (AC3_BITRATES[bits.read(6) >> 1] ?? unsure('ac3 bitrate')) * 1000;
  if (bits.read(5) > 8) unsure('ac3 version');
  bits.skip(3);
  const mode = bits.read(3);
  if (mode & 1 && mode !== 1) bits.skip(2);
  if (mode & 4) bits.skip(2);
  if (mode === 2) bits.skip(2);
  return { ...modeOf(mode, bits.flag()), sampleRate, bitrate, codecString: 'ac-3' };
}

/** Reads the first E-AC-3 frame in some bytes; more than 5.1 channels lie in dependent frames, which ffprobe joins. */
export function eac3Facts(frame: Buffer, containerChannels: number): AudioFacts {
  const bits = new Bits(frame.subarray(syncOf(frame) + 2));
  if (bits.read(2) !== 0) unsure('eac3 stream type');
  bits.skip(3);
  const size = (bits.read(11) + 1) * 2;
  const rateCode = bits.read(2);
  if (rateCode === 3) unsure('eac3 rate');
  const blocks = [1, 2, 3, 6][bits.read(2)] ?? 6;
  const mode = modeOf(bits.read(3), bits.flag());
  if (mode.channels !== containerChannels) unsure('eac3 channels');
  const sampleRate = AC3_RATES[rateCode] ?? 48000;
  return { ...mode, sampleRate, bitrate: Math.round((size * 8 * sampleRate) / (blocks * 256)), codecString: 'ec-3' };
}

function syncOf(frame: Buffer): number {
  const at = frame.indexOf(Buffer.from([0x0b, 0x77]));
  return at < 0 || at + 16 > frame.length ? unsure('ac3 sync') : at;
}

/** Reads an OpusHead or a dOps box (which lacks the magic and is big-endian, but has the same channel byte). */
export function opusFacts(head: Uint8Array): AudioFacts {
  const magic = Buffer.from(head.subarray(0, 8)).toString('latin1') === 'OpusHead';
  const channels = head[magic ? 9 : 1] ?? 0;
  if (channels < 1 || channels > 8) unsure('opus channels');
  return withLayout({ channels, sampleRate: 48000, codecString: 'opus' });
}

/** Reads the STREAMINFO of `fLaC…` (Matroska) or dfLa (MP4). */
export function flacFacts(info: Buffer): AudioFacts {
  const at = info.indexOf(Buffer.from([0, 0, 34]));
  if (at < 0 || info.length < at + 21) unsure('flac');
  const bits = new Bits(info.subarray(at + 3 + 10));
  const sampleRate = bits.read(20);
  const channels = bits.read(3) + 1;
  const bitDepth = bits.read(5) + 1;
  return withLayout({ channels, sampleRate, bitDepth, codecString: 'flac' });
}
