import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundOptions } from '#platform/outbound.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import type { OutboundSocket } from '#platform/outbound-agent.ts';
import type { OpenAnswer, OutboundStream } from '#platform/outbound-stream.ts';
import { withoutCredential } from '../source.ts';
import { batchesOf, textOf } from './bodies.ts';
import { readDatagrams } from './datagrams.ts';
import { faultOfAnswer, SourceFault } from './fault.ts';
import type { Get } from './hls/follow.ts';
import { readHls } from './hls/index.ts';
import type { Rests } from './pace.ts';
import { openRtsp } from './rtsp/index.ts';

/** Time to the head of the response: a device locks on its signal first. */
const HEAD_MS = 8000;
/** Time in which a device frees a slot. */
const FREED_MS = 3000;
/** Silence of a stream, and of a list, whose segments come one by one. */
const STREAM = { silentMs: 3000, hasCounters: true };
const LIST = { silentMs: 15_000, hasCounters: false };
const LIST_TYPE = /mpegurl/i;

export interface SourceAddress {
  url: string;
  headers: Record<string, string>;
  userAgent?: string | undefined;
}

export interface ReaderDeps {
  send: OutboundStream;
  /** For RTSP. */
  connect: OutboundSocket;
  /** Networks in which sources may be. */
  networks: Pick<OutboundOptions, 'allow' | 'always'>;
  signal: AbortSignal;
  rests?: Rests;
  /** Takes faults with which the source goes on. */
  note?: (fault: Error) => void;
}

export interface Reading {
  /** A transport stream, in chunks that are valid until the next one is requested. */
  bytes: AsyncIterable<Buffer>;
  /** Silence after which the source has failed. */
  silentMs: number;
  /** The counters of its packets go on over its whole length; segments of a list may each have their own. */
  hasCounters: boolean;
}

/**
 * Opens a source: a transport stream over HTTP or RTSP, a list of HLS that is followed, or a multicast group. Throws
 * `SourceFault`.
 */
export async function openSource(source: SourceAddress, deps: ReaderDeps): Promise<Reading> {
  const protocol = URL.canParse(source.url) ? new URL(source.url).protocol : '';
  if (protocol === 'udp:' || protocol === 'rtp:') {
    return { bytes: readDatagrams(new URL(source.url), deps.signal, deps.rests), ...STREAM };
  }
  if (protocol === 'rtsp:') return { bytes: await openRtsp(source, deps), ...STREAM };
  if (protocol === 'http:' || protocol === 'https:') return openHttp(source, deps);
  throw new SourceFault('refused', 'this kind of address is not read');
}

/** As `openSource`, for a device that needs a moment to free the slot of a stream that has just ended. */
export async function openFreed(source: SourceAddress, deps: ReaderDeps, releasedAt: () => number): Promise<Reading> {
  for (;;) {
    try {
      return await openSource(source, deps);
    } catch (error) {
      const isBusy = error instanceof SourceFault && error.reason === 'busy';
      if (!isBusy || Date.now() - releasedAt() > FREED_MS) throw error;
      await sleep(200, undefined, { signal: deps.signal });
    }
  }
}

async function openHttp(source: SourceAddress, deps: ReaderDeps): Promise<Reading> {
  const { url, headers } = withoutCredential(source.url);
  const agent = source.userAgent ? { 'user-agent': source.userAgent } : {};
  const common = { ...deps.networks, signal: deps.signal, timeoutMs: HEAD_MS };
  const secret = { ...headers, ...source.headers };
  const sent = { ...common, headers: { ...agent, ...secret }, secretHeaders: Object.keys(secret) };
  const answer = await request(url, sent, deps.send);
  const isList = LIST_TYPE.test(answer.headers['content-type'] ?? '') || /\.m3u8$/i.test(new URL(answer.url).pathname);
  if (!isList) return { bytes: batchesOf(answer, deps.rests), ...STREAM };
  const text = await textOf(answer);
  // A list may name another host, which gets no credentials.
  const get: Get = (address, range) => {
    const isOwn = new URL(address).origin === new URL(url).origin;
    const own = isOwn ? sent : { ...common, headers: agent };
    const headers = {
      ...own.headers,
      ...(range && { range: `bytes=${range.start}-${range.start + range.length - 1}` }),
    };
    return request(address, { ...own, headers }, deps.send);
  };
  const note = (fault: Error): void => deps.note?.(fault);
  return { bytes: readHls({ text, url: answer.url, get, signal: deps.signal, note }), ...LIST };
}

async function request(url: string, options: OutboundOptions, send: OutboundStream): Promise<OpenAnswer> {
  let answer: OpenAnswer;
  try {
    answer = await send(url, options);
  } catch (error) {
    const refused = error instanceof OutboundRefused && error.reason !== 'time';
    throw new SourceFault(refused ? 'refused' : 'unreachable', (error as Error).message, { cause: error });
  }
  if (answer.status === 200 || (answer.status === 206 && options.headers?.['range'])) return answer;
  answer.body.destroy();
  throw faultOfAnswer(answer.status, answer.headers);
}
