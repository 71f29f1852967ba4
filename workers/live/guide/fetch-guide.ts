// Brings the bytes of a guide into a file of the scratch folder.

import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GuidePlace } from '#areas/live-tv/guide/sources/orders.ts';
import { liveNetworks, liveOutbound, requestOf, uploadedBytes } from '#areas/live-tv/public.ts';
import { type Outbound, type OutboundOptions, OutboundRefused } from '#platform/outbound.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { GuideRefused } from './refused.ts';

const MOST_BYTES = 512 << 20;
const FETCH_MS = 10 * 60_000;
const HEAD_BYTES = 128 << 10;

export interface Fetching {
  deps: Pick<WorkerDeps, 'config' | 'settings' | 'objects'>;
  place: GuidePlace;
  signal: AbortSignal;
  /** For tests. */
  outbound?: Outbound | undefined;
}

interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export type Fetched = { unchanged: true } | ({ unchanged: false } & Validators);

const optionsFor = ({ deps, place, signal }: Fetching, url: string): { url: string; options: OutboundOptions } => {
  const { url: plain, headers } = requestOf(url);
  const own = place.headers ?? {};
  return {
    url: plain,
    options: { ...liveNetworks(deps), headers: { ...headers, ...own }, secretHeaders: Object.keys(own), signal },
  };
};

/** Fetches or copies the guide into the file. Throws `GuideRefused`. */
export async function fetchGuide(fetching: Fetching, path: string, known: Validators): Promise<Fetched> {
  const { deps, place } = fetching;
  if (place.uploadId !== undefined) {
    await pipeline(Readable.from(uploadedBytes(deps.objects, place.uploadId)), createWriteStream(path));
    return { unchanged: false, etag: null, lastModified: null };
  }
  return fetched(fetching, path, known);
}

async function fetched(fetching: Fetching, path: string, { etag, lastModified }: Validators): Promise<Fetched> {
  const { url, options } = optionsFor(fetching, requiredUrl(fetching.place));
  const conditions = {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
  const file = await open(path, 'w');
  try {
    const answer = await requested(fetching, url, {
      ...options,
      headers: { ...options.headers, ...conditions },
      ...{ maxBytes: MOST_BYTES, timeoutMs: FETCH_MS },
      sink: (chunk) => file.appendFile(chunk),
    });
    if (answer.status === 304) return { unchanged: true };
    if (answer.status !== 200) throw new GuideRefused('unreachable', `the address answers ${answer.status}`);
    const header = (name: 'etag' | 'last-modified'): string | null => answer.headers[name]?.slice(0, 500) ?? null;
    return { unchanged: false, etag: header('etag'), lastModified: header('last-modified') };
  } finally {
    await file.close();
  }
}

/** The first bytes of the guide. Throws `GuideRefused`. */
export async function fetchHead(fetching: Fetching, timeoutMs: number): Promise<Buffer> {
  const { deps, place } = fetching;
  if (place.uploadId !== undefined) {
    for await (const chunk of uploadedBytes(deps.objects, place.uploadId)) return chunk.subarray(0, HEAD_BYTES);
    return Buffer.alloc(0);
  }
  const { url, options } = optionsFor(fetching, requiredUrl(place));
  const answer = await requested(fetching, url, { ...options, maxBytes: HEAD_BYTES, cut: true, timeoutMs });
  if (answer.status !== 200) throw new GuideRefused('unreachable', `the address answers ${answer.status}`);
  return answer.body;
}

function requiredUrl({ url }: GuidePlace): string {
  if (url === undefined) throw new GuideRefused('no_address', 'the address of the guide cannot be read');
  return url;
}

async function requested({ deps, outbound }: Fetching, url: string, options: OutboundOptions) {
  try {
    return await (outbound ?? liveOutbound(deps.config))(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    if (!(error instanceof OutboundRefused)) throw new GuideRefused('unreachable', 'the address does not answer');
    if (error.reason === 'size') throw new GuideRefused('too_large', 'the guide is larger than 512 MiB');
    if (error.reason === 'time') throw new GuideRefused('unreachable', 'the address does not answer in time');
    throw new GuideRefused('address_not_allowed', error.message);
  }
}
