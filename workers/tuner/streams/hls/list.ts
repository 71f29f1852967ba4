// Lists of HLS as they are written.
import { SourceFault } from '../fault.ts';

const MOST_SEGMENTS = 10_000;

export interface Key {
  url: string;
  iv: Buffer | undefined;
}

/** A resource of a list, or a part of one. */
export interface Piece {
  sequence: number;
  url: string;
  range: { start: number; length: number } | undefined;
  key: Key | undefined;
}

export interface Segment extends Piece {
  /** The head of the fragmented MP4 that it belongs to; absent for transport streams. */
  head: Piece | undefined;
  /** Its clock and its streams are other ones than those before. */
  isBreak: boolean;
}

export interface Media {
  targetSec: number;
  segments: Segment[];
  ended: boolean;
}

const resolved = (address: string, base: string): string => {
  if (!URL.canParse(address, base)) throw new SourceFault('not-media', 'the list names no address');
  return new URL(address, base).href;
};

/** An attribute list as in `BANDWIDTH=1,CODECS="a,b"`. */
function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const is = text.indexOf('=', at);
    if (is < 0) break;
    const isQuoted = text[is + 1] === '"';
    const start = isQuoted ? is + 2 : is + 1;
    const found = text.indexOf(isQuoted ? '"' : ',', start);
    const end = found < 0 ? text.length : found;
    attributes.set(text.slice(at, is).trim(), text.slice(start, end));
    const comma = text.indexOf(',', end);
    at = comma < 0 ? text.length : comma + 1;
  }
  return attributes;
}

const VARIANT = '#EXT-X-STREAM-INF:';
const RENDITION = '#EXT-X-MEDIA:';
const linesOf = (text: string): string[] => text.split(/\r?\n/).map((line) => line.trim());

export interface Variant {
  url: string;
  /** Lists of its sound, the best one first, where that is not in its own segments. */
  audioUrls: string[];
}

/** The best variant of a master list; undefined for a media list. */
export function bestVariant(text: string, base: string): Variant | undefined {
  let best: { bandwidth: number; url: string; group: string | undefined } | undefined;
  let next: { bandwidth: number; group: string | undefined } | undefined;
  const lines = linesOf(text);
  for (const line of lines) {
    if (line.startsWith(VARIANT)) {
      const values = attributesOf(line.slice(VARIANT.length));
      next = { bandwidth: Number(values.get('BANDWIDTH') ?? 0), group: values.get('AUDIO') };
    }
    if (next === undefined || line.startsWith('#') || !line) continue;
    if (!best || next.bandwidth > best.bandwidth) best = { ...next, url: resolved(line, base) };
    next = undefined;
  }
  return best && { url: best.url, audioUrls: soundsOf(lines, best.group, base) };
}

/** Renditions that are tried. */
const MOST_SOUNDS = 4;

/** The default sound of a group before its others; none where that of the variant itself is chosen, which has no address. */
function soundsOf(lines: readonly string[], group: string | undefined, base: string): string[] {
  if (group === undefined) return [];
  const sounds = lines
    .filter((line) => line.startsWith(RENDITION))
    .map((line) => attributesOf(line.slice(RENDITION.length)))
    .filter((values) => values.get('TYPE') === 'AUDIO' && values.get('GROUP-ID') === group);
  const chosen =
    sounds.find((values) => values.get('DEFAULT') === 'YES') ??
    sounds.find((values) => !values.has('URI')) ??
    sounds[0];
  if (!chosen?.has('URI')) return [];
  const addresses = [chosen, ...sounds].flatMap((values) => values.get('URI') ?? []);
  return [...new Set(addresses.map((address) => resolved(address, base)))].slice(0, MOST_SOUNDS);
}

const whole = (text: string): number => Number.parseInt(text, 10) || 0;

interface ReadingList extends Media {
  base: string;
  sequence: number;
  key: Key | undefined;
  head: Piece | undefined;
  /** The range of the next segment; without a start it follows the segment before. */
  range: { start: number | undefined; length: number } | undefined;
  isBreak: boolean;
}

/** What the tags of a media list mean. */
const TAGS: Readonly<Record<string, (list: ReadingList, value: string) => void>> = {
  'EXT-X-MEDIA-SEQUENCE': (list, value) => {
    list.sequence = whole(value);
  },
  'EXT-X-TARGETDURATION': (list, value) => {
    list.targetSec = whole(value) || list.targetSec;
  },
  'EXT-X-KEY': (list, value) => {
    list.key = keyOf(value, list.base);
  },
  'EXT-X-MAP': (list, value) => {
    list.head = headOf(list, value);
  },
  'EXT-X-BYTERANGE': (list, value) => {
    list.range = rangeOf(value);
  },
  'EXT-X-DISCONTINUITY': (list) => {
    list.isBreak = true;
  },
  'EXT-X-ENDLIST': (list) => {
    list.ended = true;
  },
};

/** As in `1000@500`. */
function rangeOf(text: string): { start: number | undefined; length: number } {
  const [, length, start] = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(text.trim()) ?? [];
  if (!Number(length)) throw new SourceFault('not-media', 'a range of the list is none');
  return { length: Number(length), start: start === undefined ? undefined : Number(start) };
}

function headOf({ base, key, sequence }: ReadingList, value: string): Piece {
  const values = attributesOf(value);
  const given = values.get('BYTERANGE');
  const range = given === undefined ? undefined : rangeOf(given);
  return {
    ...{ sequence, key, url: resolved(values.get('URI') ?? '', base) },
    range: range && { ...range, start: range.start ?? 0 },
  };
}

function readTag(list: ReadingList, line: string): void {
  const colon = line.indexOf(':');
  const tag = line.slice(1, colon < 0 ? undefined : colon);
  if (Object.hasOwn(TAGS, tag)) TAGS[tag]?.(list, colon < 0 ? '' : line.slice(colon + 1));
}

/** Reads a media list. Throws `SourceFault` for kinds that are not read. */
export function readMedia(text: string, base: string): Media {
  const list: ReadingList = {
    ...{ targetSec: 6, segments: [], ended: false, base, sequence: 0, key: undefined },
    ...{ head: undefined, range: undefined, isBreak: false },
  };
  for (const line of linesOf(text)) {
    if (line.startsWith('#')) readTag(list, line);
    else if (line) addSegment(list, line);
  }
  return list;
}

function addSegment(list: ReadingList, address: string): void {
  const { sequence, key, head, isBreak, range } = list;
  const url = resolved(address, list.base);
  const before = list.segments.at(-1);
  const after = before?.url === url && before.range ? before.range.start + before.range.length : 0;
  const own = range && { length: range.length, start: range.start ?? after };
  list.segments.push({ sequence, url, range: own, key, head, isBreak });
  Object.assign(list, { sequence: sequence + 1, range: undefined, isBreak: false });
  if (list.segments.length > MOST_SEGMENTS) throw new SourceFault('not-media', 'the list is too long');
}

function keyOf(line: string, base: string): Key | undefined {
  const values = attributesOf(line);
  const method = values.get('METHOD');
  if (method === 'NONE') return undefined;
  if (method !== 'AES-128') throw new SourceFault('drm', `segments are encrypted by ${method}`);
  const iv = values.get('IV');
  return {
    url: resolved(values.get('URI') ?? '', base),
    iv: iv && /^0x[0-9a-f]{32}$/i.test(iv) ? Buffer.from(iv.slice(2), 'hex') : undefined,
  };
}
