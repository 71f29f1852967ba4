// Follows a media list: its segments from the live edge on, decrypted.
import { createDecipheriv } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenAnswer } from '#platform/outbound-stream.ts';
import { bytesOf, textOf } from '../bodies.ts';
import { SourceFault } from '../fault.ts';
import { type Media, type Piece, readMedia, type Segment } from './list.ts';

const SEGMENT_BYTES = 64 << 20;
const HEAD_BYTES = 1 << 20;
/** Segments before the end of the list with which reading starts. */
const BEHIND = 2;

/** Fetches an address by the rules of the source. A server may send the whole resource in place of a range. */
export type Get = (url: string, range?: Piece['range']) => Promise<OpenAnswer>;

export interface ListText {
  text: string;
  url: string;
}

export interface FollowedList extends ListText {
  get: Get;
  signal: AbortSignal;
}

export interface Received {
  sequence: number;
  bytes: Buffer;
  /** The head of the MP4 of this segment, where it is not that of the segment before. */
  head: Buffer | undefined;
  isBreak: boolean;
}

/** The text of a list, and its address after redirects. */
export async function fetchList(get: Get, address: string): Promise<ListText> {
  const answer = await get(address);
  return { text: await textOf(answer), url: answer.url };
}

export async function* followList({ get, signal, ...first }: FollowedList): AsyncGenerator<Received> {
  const resources = new Resources(get);
  let list: ListText = first;
  let next: number | undefined;
  for (;;) {
    const media = readMedia(list.text, list.url);
    next = startOf(media, next);
    for (const segment of media.segments) {
      if (segment.sequence < next) continue;
      yield await resources.receive(segment);
      next = segment.sequence + 1;
    }
    if (media.ended) return;
    await sleep(Math.min(Math.max(media.targetSec * 500, 500), 5000), undefined, { signal });
    list = await fetchList(get, list.url);
  }
}

/** A list that starts over, or that went on without this reader, is joined at its end again. */
function startOf({ segments }: Media, next: number | undefined): number {
  const first = segments[0]?.sequence ?? 0;
  const last = segments.at(-1)?.sequence ?? 0;
  const isInside = next !== undefined && next >= first && next <= last + 1;
  return isInside ? next : Math.max(first, last + 1 - BEHIND);
}

/** Segments, heads and keys of a list. */
class Resources {
  readonly #get: Get;
  #key: { url: string; secret: Buffer } | undefined;
  #head = '';

  constructor(get: Get) {
    this.#get = get;
  }

  async receive(segment: Segment): Promise<Received> {
    const { head, isBreak } = segment;
    const name = head ? `${head.url} ${head.range?.start} ${head.range?.length}` : '';
    const isNew = head !== undefined && (isBreak || name !== this.#head);
    const received = isNew ? await this.#bytes(head, HEAD_BYTES) : undefined;
    const bytes = await this.#bytes(segment, SEGMENT_BYTES);
    this.#head = name;
    return { sequence: segment.sequence, head: received, bytes, isBreak };
  }

  async #bytes({ url, range, key, sequence }: Piece, most: number): Promise<Buffer> {
    const answer = await this.#get(url, range);
    const isWhole = range !== undefined && answer.status === 200;
    const all = await bytesOf(answer, isWhole ? SEGMENT_BYTES : most);
    const bytes = isWhole ? all.subarray(range.start, range.start + range.length) : all;
    if (bytes.length > most) throw new SourceFault('not-media', `a part of a file is over ${most} bytes`);
    if (!key) return bytes;
    const counter = Buffer.alloc(16);
    counter.writeUInt32BE(sequence >>> 0, 12);
    const cipher = createDecipheriv('aes-128-cbc', await this.#secret(key.url), key.iv ?? counter);
    try {
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    } catch {
      throw new SourceFault('drm', 'the segment does not open with its key');
    }
  }

  async #secret(url: string): Promise<Buffer> {
    if (this.#key?.url === url) return this.#key.secret;
    const secret = await bytesOf(await this.#get(url), 1024);
    if (secret.length !== 16) throw new SourceFault('drm', 'the key of the segments is no key');
    this.#key = { url, secret };
    return secret;
  }
}
