import { ProbeError } from './fault.ts';

/** The container according to the first bytes, and the ffmpeg demuxer that is forced for it. */
export interface Sniffed {
  container: string;
  demuxer: string;
}

const ASF = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
const TS_PACKETS = 3;

type Rule = readonly [container: string, demuxer: string, fits: (head: Buffer) => boolean];

const starts =
  (magic: string | Buffer, at = 0) =>
  (head: Buffer): boolean =>
    head.subarray(at, at + magic.length).equals(Buffer.from(magic as string, 'latin1'));

const riff = (kind: string) => (head: Buffer) => starts('RIFF')(head) && starts(kind, 8)(head);
/** MPEG-TS: the sync byte at each packet. */
const packets = (size: number, at: number) => (head: Buffer) =>
  head.length > size * TS_PACKETS &&
  Array.from({ length: TS_PACKETS }, (_, i) => head[at + i * size]).every((byte) => byte === 0x47);
const MP4_BOXES = new Set(['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'pnot', 'styp']);
const mp4 = (head: Buffer): boolean => MP4_BOXES.has(head.toString('latin1', 4, 8));
const mpegAudio = (head: Buffer): boolean => head[0] === 0xff && ((head[1] ?? 0) & 0xe6) > 0xe0;

const RULES: readonly Rule[] = [
  ['matroska', 'matroska,webm', starts(Buffer.from([0x1a, 0x45, 0xdf, 0xa3]))],
  ['mp4', 'mov,mp4,m4a,3gp,3g2,mj2', mp4],
  ['avi', 'avi', riff('AVI ')],
  ['wav', 'wav', riff('WAVE')],
  ['ogg', 'ogg', starts('OggS')],
  ['flac', 'flac', starts('fLaC')],
  ['aiff', 'aiff', (head) => starts('FORM')(head) && (starts('AIFF', 8)(head) || starts('AIFC', 8)(head))],
  ['ape', 'ape', starts('MAC ')],
  ['wavpack', 'wv', starts('wvpk')],
  ['dsf', 'dsf', starts('DSD ')],
  ['musepack', 'mpc8', starts('MPCK')],
  ['musepack', 'mpc', starts('MP+')],
  ['asf', 'asf', starts(ASF)],
  ['flv', 'flv', starts('FLV')],
  ['mpegts', 'mpegts', packets(188, 0)],
  ['mpegts', 'mpegts', packets(192, 4)],
  ['mpegps', 'mpeg', starts(Buffer.from([0, 0, 1, 0xba]))],
  ['mp3', 'mp3', starts('ID3')],
  ['aac', 'aac', (head) => head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0],
  ['mp3', 'mp3', mpegAudio],
];

/** Texts that name other files or addresses: reading one could open them. */
const PLAYLISTS = [
  /^#EXTM3U/,
  /^ffconcat/,
  /<MPD[\s>]/,
  /<smil[\s>]/i,
  /^\[playlist\]/i,
  /^v=0\r?\n/,
  /<asx[\s>]/i,
  /^\[reference\]/i,
];
const HEAD_TEXT = 2048;

/** Bytes that {@link sniff} needs. */
export const SNIFF_BYTES = 4096;

/** Recognizes the container by content alone, never by name. Refuses playlists and anything but media. */
export function sniff(head: Buffer): Sniffed {
  for (const [container, demuxer, fits] of RULES) if (fits(head)) return { container, demuxer };
  const text = head
    .toString('utf8', 0, HEAD_TEXT)
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (PLAYLISTS.some((pattern) => pattern.test(text)))
    throw new ProbeError('playlist-refused', 'a list of other files');
  throw new ProbeError('not-media', head.length === 0 ? 'the file is empty' : 'no known container');
}
