// Requests to the API server over few connections. Every write passes the fence directly before it is sent.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { CrashSwitch } from './crash-switch.ts';
import type { Access, Credentials } from './credentials.ts';
import { refusalOf, Unreached } from './faults.ts';
import type { Metrics } from './metrics.ts';

export const APPLY_PATCH = 'application/apply-patch+yaml';
export const MERGE_PATCH = 'application/merge-patch+json';

/**
 * The API server aborts a write after this (query parameter `timeout`). A Lease is renewed 5 s before another process may
 * acquire it, so a write that passed the fence has ended before another process leads.
 */
const WRITE_TIMEOUT = '5s';
const TIMEOUT_MS = 30_000;
/** Pause after a 429 without Retry-After. */
const PAUSE_MS = 1000;

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  /** Default: application/json. */
  contentType?: string;
  signal?: AbortSignal;
  /** Maximum time without data; default 30 s. */
  idleMs?: number;
  /** Sent even while other requests are paused after a 429. */
  urgent?: boolean;
}

export interface RestOptions {
  credentials: Credentials;
  metrics: Metrics;
  /** Throws Deposed when this process may not write. */
  fence?: () => void;
}

export class Rest {
  readonly #credentials: Credentials;
  readonly #metrics: Metrics;
  readonly #fence: () => void;
  readonly #crash = new CrashSwitch();
  readonly #writing = new Set<Promise<string>>();
  #pausedUntil = 0;

  constructor({ credentials, metrics, fence }: RestOptions) {
    this.#credentials = credentials;
    this.#metrics = metrics;
    this.#fence = fence ?? (() => undefined);
  }

  /** Parsed JSON. Throws Refusal, Unreached or Deposed. */
  async read<T>(call: Call): Promise<T> {
    return JSON.parse(await textOf(await this.#answered(call))) as T;
  }

  async write<T>(call: Call): Promise<T> {
    const query = { timeout: WRITE_TIMEOUT, ...call.query };
    const writing = this.#answered({ ...call, query }, this.#fence).then(textOf);
    this.#writing.add(writing);
    try {
      const text = await writing;
      this.#crash.answered();
      return JSON.parse(text) as T;
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** Resolves when all writes sent so far have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writing);
  }

  /** A write that is not part of reconciliation: the Lease, which has its own rules, and Events. */
  async note<T>(call: Call, fence?: () => void): Promise<T> {
    return JSON.parse(await textOf(await this.#answered({ ...call, query: { timeout: WRITE_TIMEOUT } }, fence))) as T;
  }

  /** The body as a stream, for a watch; it fails after idleMs without data. */
  stream(call: Call): Promise<IncomingMessage> {
    return this.#answered(call);
  }

  close(): void {
    this.#credentials.close();
  }

  async #answered(call: Call, fence?: () => void): Promise<IncomingMessage> {
    if (!call.urgent) await this.#calm(call.signal);
    let answer = await this.#sentTwice(call, fence);
    if (answer.statusCode === 401) {
      answer.resume();
      this.#credentials.refresh();
      answer = await this.#send(call, fence);
    }
    const status = answer.statusCode ?? 0;
    this.#metrics.requests.inc({ code: String(status), method: call.method });
    if (status >= 200 && status < 300) return answer;
    throw await this.#refusal(call, answer);
  }

  /** After a 429 every request pauses. */
  async #refusal(call: Call, answer: IncomingMessage): Promise<Error> {
    const retryAfter = answer.headers['retry-after'];
    const body = await textOf(answer);
    const refusal = refusalOf(call.path, answer.statusCode ?? 0, { body, ...(retryAfter && { retryAfter }) });
    if (refusal.status === 429)
      this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + (refusal.retryAfterMs ?? PAUSE_MS));
    return refusal;
  }

  async #calm(signal: AbortSignal | undefined): Promise<void> {
    const wait = this.#pausedUntil - performance.now();
    if (wait <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, wait * (1 + Math.random() / 4));
    signal?.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }

  /** The server may have closed the kept connection at that moment. */
  async #sentTwice(call: Call, fence?: () => void): Promise<IncomingMessage> {
    try {
      return await this.#send(call, fence);
    } catch (error) {
      if (!(error instanceof Unreached && error.cause === REUSED)) throw error;
      return await this.#send(call, fence);
    }
  }

  async #access(): Promise<Access> {
    try {
      return await this.#credentials.current();
    } catch (error) {
      throw new Unreached(`the credentials cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }

  async #send(call: Call, fence?: () => void): Promise<IncomingMessage> {
    const { server, headers, agent } = await this.#access();
    const url = new URL(server + call.path);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const sent: Record<string, string> = { ...headers, Accept: 'application/json', 'User-Agent': 'foyer-operator' };
    if (body !== undefined) {
      sent['Content-Type'] = call.contentType ?? 'application/json';
      sent['Content-Length'] = String(Buffer.byteLength(body));
    }
    const options = { method: call.method, headers: sent, agent, ...(call.signal && { signal: call.signal }) };
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
    return answerTo(request, { body, fence, idleMs: call.idleMs ?? TIMEOUT_MS, secure: url.protocol === 'https:' });
  }
}

const REUSED = Symbol('a kept connection was closed');

interface Sending {
  body: string | undefined;
  fence: (() => void) | undefined;
  idleMs: number;
  secure: boolean;
}

function answerTo(request: ClientRequest, { body, fence, idleMs, secure }: Sending): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.setTimeout(idleMs, () => request.destroy(new Error(`no byte for ${idleMs} ms`)));
  request.once('response', resolve);
  request.on('error', (error: NodeJS.ErrnoException) => {
    const cause = request.reusedSocket && error.code === 'ECONNRESET' ? REUSED : error;
    reject(error.name === 'Deposed' ? error : new Unreached(error.message, { cause }));
  });
  // The fence is checked once the connection is open, directly before the data is sent.
  request.once('socket', (socket: Socket) => {
    const go = (): void => {
      try {
        fence?.();
        request.end(body);
      } catch (error) {
        reject(error);
        request.destroy();
      }
    };
    if (request.reusedSocket || !socket.connecting) go();
    else socket.once(secure ? 'secureConnect' : 'connect', go);
  });
  return promise;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  try {
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    return Buffer.concat(parts).toString('utf8');
  } catch (error) {
    throw new Unreached((error as Error).message, { cause: error });
  }
}
