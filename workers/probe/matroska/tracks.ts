import { child, children, float, text, uint } from './ebml.ts';
import { ID } from './ids.ts';

export interface Track {
  number: number;
  uid: number;
  type: 'video' | 'audio' | 'subtitle';
  codec: string;
  codecPrivate: Buffer;
  /** Bytes removed from the front of each frame by header stripping. */
  stripped: Buffer;
  /** Frames or codec data are compressed or encrypted in a way that this reader does not support. */
  packed: boolean;
  /** Only frames are compressed, with zlib. */
  zipped: boolean;
  default: boolean;
  forced: boolean;
  hearingImpaired: boolean;
  original: boolean;
  language: string;
  name: string | undefined;
  frameNs: number | undefined;
  codecDelayNs: number;
  dolbyVision: boolean;
  hdr10plus: boolean;
  video: Buffer | undefined;
  audio: Buffer | undefined;
}

const TYPES: Readonly<Record<number, Track['type']>> = { 1: 'video', 2: 'audio', 17: 'subtitle' };
const DOLBY_VISION = new Set([0x64766343, 0x64767643]);
const EMPTY = Buffer.alloc(0);

/** The tracks that ffmpeg counts as streams, in the file's order. */
export function tracksOf(tracks: Buffer): Track[] {
  return children(tracks, ID.track).flatMap((entry) => trackOf(entry) ?? []);
}

function trackOf(entry: Buffer): Track | undefined {
  const type = TYPES[number(entry, ID.type, 0)];
  const codec = text(child(entry, ID.codec) ?? EMPTY);
  if (!type || codec === '') return undefined;
  const name = child(entry, ID.name);
  return {
    ...flagsOf(entry),
    ...encodingOf(entry),
    ...additionsOf(entry),
    number: number(entry, ID.number, 0),
    uid: number(entry, ID.uid, 0),
    type,
    codec,
    codecPrivate: child(entry, ID.codecPrivate) ?? EMPTY,
    language: text(child(entry, ID.languageTag) ?? child(entry, ID.language) ?? Buffer.from('eng')),
    name: name && text(name),
    frameNs: number(entry, ID.defaultDuration, 0) || undefined,
    codecDelayNs: number(entry, ID.codecDelay, 0),
    video: child(entry, ID.video),
    audio: child(entry, ID.audio),
  };
}

/** An unsigned member of an element, or its default. */
export function number(data: Buffer, id: number, fallback: number): number {
  const found = child(data, id);
  return found ? uint(found) : fallback;
}

/** A floating-point member of an element, or its default. */
export function decimal(data: Buffer, id: number, fallback: number): number {
  const found = child(data, id);
  return found ? float(found) : fallback;
}

function flagsOf(entry: Buffer): Pick<Track, 'default' | 'forced' | 'hearingImpaired' | 'original'> {
  return {
    default: number(entry, ID.flagDefault, 1) === 1,
    forced: number(entry, ID.flagForced, 0) === 1,
    hearingImpaired: number(entry, ID.flagHearing, 0) === 1,
    original: number(entry, ID.flagOriginal, 0) === 1,
  };
}

function encodingOf(entry: Buffer): Pick<Track, 'stripped' | 'packed' | 'zipped'> {
  const encodings = children(child(entry, ID.encodings) ?? EMPTY, ID.encoding);
  const [only] = encodings;
  if (!only) return { stripped: EMPTY, packed: false, zipped: false };
  const compression = child(only, ID.compression);
  const ofFrames =
    encodings.length === 1 && number(only, ID.encodingType, 0) === 0 && number(only, ID.encodingScope, 1) === 1;
  const algorithm = compression && ofFrames ? number(compression, ID.compressionAlgorithm, 0) : undefined;
  if (!compression || algorithm !== 3) return { stripped: EMPTY, packed: true, zipped: algorithm === 0 };
  return { stripped: child(compression, ID.compressionSettings) ?? EMPTY, packed: false, zipped: false };
}

function additionsOf(entry: Buffer): Pick<Track, 'dolbyVision' | 'hdr10plus'> {
  const kinds = children(entry, ID.blockAdditionMapping).map((mapping) => number(mapping, ID.blockAdditionType, 0));
  return { dolbyVision: kinds.some((kind) => DOLBY_VISION.has(kind)), hdr10plus: kinds.includes(4) };
}
