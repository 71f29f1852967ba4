// Reads some seconds of a stream of television; every address that it is led to is judged.
import { type IncomingHttpHeaders, type IncomingMessage, request as plain } from 'node:http';
import { request as tls } from 'node:https';
import { requestOf } from '#areas/live-tv/public.ts';
import type { OutboundOptions, OutboundSetting } from '#platform/outbound.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { createAddressJudge, judgedAgent } from '#platform/outbound-agent.ts';

const MOST_BYTES = 32 << 20;
const MOST_REDIRECTS = 5;

export interface StreamRequest {
  headers: Record<string, string>;
  setting: OutboundSetting;
  networks: OutboundOptions;
  /** Time until the first byte. */
  answerMs: number;
  /** Time from the first byte on. */
  readMs: number;
  signal: AbortSignal;
}

export interface StreamRead {
  status: number;
  responseHeaders: IncomingHttpHeaders;
  bytes: Buffer;
  firstByteMs: number;
  readMs: number;
  /** Address after the last redirect. */
  url: string;
}

/** The bytes until the time was over. Throws `OutboundRefused` and the error of the connection. */
export async function readStream(address: string, request: StreamRequest): Promise<StreamRead> {
  const began = performance.now();
  let at = address;
  const origin = new URL(address).origin;
  for (let redirects = 0; ; redirects += 1) {
    const isOwn = new URL(at).origin === origin;
    const answer = await opened(at, isOwn ? request : { ...request, headers: {} });
    const { statusCode: status = 0, headers } = answer;
    const to = status >= 300 && status < 400 ? headers.location : undefined;
    if (to === undefined) {
      const { bytes, firstByteMs, readMs } = await received(answer, request, began);
      return { status, responseHeaders: headers, bytes, firstByteMs, readMs, url: at };
    }
    answer.destroy();
    if (redirects === MOST_REDIRECTS) throw new OutboundRefused('redirects', 'too many redirects');
    at = new URL(to, at).href;
  }
}

function opened(
  address: string,
  { headers, setting, networks, answerMs, signal }: StreamRequest,
): Promise<IncomingMessage> {
  const { url, headers: own } = requestOf(address);
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new OutboundRefused('scheme', 'only streams by http and https are tested');
  const judge = createAddressJudge(setting, networks);
  const agent = judgedAgent(judge, { tls: protocol === 'https:', silentMs: answerMs });
  const options = { agent, signal, headers: { 'user-agent': 'Foyer', ...own, ...headers } };
  return new Promise((done, fail) => {
    const request = (protocol === 'https:' ? tls : plain)(url, options, done);
    request.on('error', fail);
    request.end();
  });
}

async function received(
  answer: IncomingMessage,
  { readMs }: StreamRequest,
  began: number,
): Promise<{ bytes: Buffer; firstByteMs: number; readMs: number }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let first: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      first ??= performance.now();
      timer ??= setTimeout(() => answer.destroy(), readMs);
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MOST_BYTES || performance.now() - first >= readMs) break;
    }
  } catch (error) {
    if (size === 0) throw error; // a part of the stream is enough
  } finally {
    clearTimeout(timer);
    answer.destroy();
  }
  const from = first ?? performance.now();
  return { bytes: Buffer.concat(chunks), firstByteMs: Math.round(from - began), readMs: performance.now() - from };
}
