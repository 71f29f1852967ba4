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
  get(url: string): Promise<OpenAnswer>;
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

function attributesOf(line: string): Map<string, string> {
  const found = line.matchAll(/([A-Z0-9-]{1,40})=("[^"]*"|[^",]*)/g);
  return new Map(Array.from(found, ([, name = '', value = '']) => [name, value.replace(/^"|"$/g, '')]));
}

/** The address of the best variant of a master list; undefined for a media list. */
export function bestVariant(text: string, base: string): string | undefined {
  const lines = text.split(/\r?\n/);
  let best: { bandwidth: number; url: string } | undefined;
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith('#EXT-X-STREAM-INF:')) continue;
    const bandwidth = Number(attributesOf(line).get('BANDWIDTH') ?? 0);
    const address = lines.slice(at + 1).find((one) => one.trim() && !one.startsWith('#'));
    if (address && (!best || bandwidth > best.bandwidth)) best = { bandwidth, url: resolved(address.trim(), base) };
  }
  return best?.url;
}

/** Reads a media list of transport streams. Throws `SourceFault` for kinds that are not read. */
export function readMedia(text: string, base: string): Media {
  const media: Media = { targetSec: 6, segments: [], ended: false };
  let sequence = 0;
  let key: Key | undefined;
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (line.startsWith('#EXT-X-MEDIA-SEQUENCE:')) sequence = Number.parseInt(line.slice(22), 10) || 0;
    else if (line.startsWith('#EXT-X-TARGETDURATION:')) media.targetSec = Number.parseInt(line.slice(22), 10) || 6;
    else if (line.startsWith('#EXT-X-KEY:')) key = keyOf(line, base);
    else if (line.startsWith('#EXT-X-MAP:')) throw new SourceFault('not-media', 'fragmented MP4 is not read');
    else if (line === '#EXT-X-ENDLIST') media.ended = true;
    else if (line && !line.startsWith('#')) {
      media.segments.push({ sequence, url: resolved(line, base), key });
      sequence += 1;
      if (media.segments.length > MOST_SEGMENTS) throw new SourceFault('not-media', 'the list is too long');
    }
  }
  return media;
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
