import { createDecipheriv } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenAnswer } from '#platform/outbound-stream.ts';
import { bytesOf, textOf } from './bodies.ts';
import { SourceFault } from './fault.ts';

const SEGMENT_BYTES = 64 << 20;
const MOST_SEGMENTS = 10_000;
/** Segments before the end of the list with which reading starts. */
const BEHIND = 2;

export interface HlsList {
  /** The list that was read, and its address. */
  text: string;
  url: string;
  /** Fetches an address by the rules of the source. */
  get: (url: string) => Promise<OpenAnswer>;
  signal: AbortSignal;
}

interface Key {
  url: string;
  iv: Buffer | undefined;
}

interface Segment {
  sequence: number;
  url: string;
  key: Key | undefined;
}

interface Media {
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

/** The address of the best variant of a master list; undefined for a media list. */
export function bestVariant(text: string, base: string): string | undefined {
  let best: { bandwidth: number; url: string } | undefined;
  let bandwidth: number | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith(VARIANT)) bandwidth = Number(attributesOf(line.slice(VARIANT.length)).get('BANDWIDTH') ?? 0);
    if (bandwidth === undefined || line.startsWith('#') || !line.trim()) continue;
    if (!best || bandwidth > best.bandwidth) best = { bandwidth, url: resolved(line.trim(), base) };
    bandwidth = undefined;
  }
  return best?.url;
}

const whole = (text: string): number => Number.parseInt(text, 10) || 0;

interface ReadingList extends Media {
  base: string;
  sequence: number;
  key: Key | undefined;
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
  'EXT-X-MAP': () => {
    throw new SourceFault('not-media', 'fragmented MP4 is not read');
  },
  'EXT-X-ENDLIST': (list) => {
    list.ended = true;
  },
};

function readTag(list: ReadingList, line: string): void {
  const colon = line.indexOf(':');
  const tag = line.slice(1, colon < 0 ? undefined : colon);
  if (Object.hasOwn(TAGS, tag)) TAGS[tag]?.(list, colon < 0 ? '' : line.slice(colon + 1));
}

/** Reads a media list of transport streams. Throws `SourceFault` for kinds that are not read. */
export function readMedia(text: string, base: string): Media {
  const list: ReadingList = { targetSec: 6, segments: [], ended: false, base, sequence: 0, key: undefined };
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (line.startsWith('#')) readTag(list, line);
    else if (line) addSegment(list, line);
  }
  return list;
}

function addSegment(list: ReadingList, address: string): void {
  list.segments.push({ sequence: list.sequence, url: resolved(address, list.base), key: list.key });
  list.sequence += 1;
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

/** Follows a list: its segments from the live edge on, decrypted. */
export async function* readHls({ text, url, get, signal }: HlsList): AsyncGenerator<Buffer> {
  const keys = new Map<string, Buffer>();
  let list = { text, url };
  const variant = bestVariant(text, url);
  if (variant) list = await fetched(get, variant);
  let next: number | undefined;
  for (;;) {
    const media = readMedia(list.text, list.url);
    next = startOf(media, next);
    for (const segment of media.segments) {
      if (segment.sequence < next) continue;
      yield await segmentBytes(segment, { get, keys });
      next = segment.sequence + 1;
    }
    if (media.ended) return;
    await sleep(Math.min(Math.max(media.targetSec * 500, 500), 5000), undefined, { signal });
    list = await fetched(get, list.url);
  }
}

/** A list that starts over, or that went on without this reader, is joined at its end again. */
function startOf({ segments }: Media, next: number | undefined): number {
  const first = segments[0]?.sequence ?? 0;
  const last = segments.at(-1)?.sequence ?? 0;
  const isInside = next !== undefined && next >= first && next <= last + 1;
  return isInside ? next : Math.max(first, last + 1 - BEHIND);
}

async function fetched(get: HlsList['get'], address: string): Promise<{ text: string; url: string }> {
  const answer = await get(address);
  return { text: await textOf(answer), url: answer.url };
}

async function segmentBytes(
  { url, key, sequence }: Segment,
  { get, keys }: { get: HlsList['get']; keys: Map<string, Buffer> },
): Promise<Buffer> {
  const bytes = await bytesOf(await get(url), SEGMENT_BYTES);
  if (!key) return bytes;
  const secret = keys.get(key.url) ?? (await bytesOf(await get(key.url), 1024));
  if (secret.length !== 16) throw new SourceFault('drm', 'the key of the segments is no key');
  keys.clear();
  keys.set(key.url, secret);
  const counter = Buffer.alloc(16);
  counter.writeUInt32BE(sequence >>> 0, 12);
  const cipher = createDecipheriv('aes-128-cbc', secret, key.iv ?? counter);
  try {
    return Buffer.concat([cipher.update(bytes), cipher.final()]);
  } catch {
    throw new SourceFault('drm', 'the segment does not open with its key');
  }
}
