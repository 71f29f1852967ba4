// One HTTP request without fetch, which would load a second HTTP client into a mostly idle process.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  timeoutMs: number;
  /** Connections to reuse. Without it each request opens one, so that a Service can select another pod. */
  pool?: Pool;
}

export interface Received {
  status: number;
  text: string;
}

/** Connections without a request for this long are closed, since pods are replaced. */
const SPARE_MS = 5000;

/** Connections to one server. */
export class Pool {
  readonly http = new HttpAgent({ keepAlive: true, timeout: SPARE_MS });
  readonly https = new HttpsAgent({ keepAlive: true, timeout: SPARE_MS });
}

/** Throws if there was no complete response. */
export async function exchange(address: string, sent: Sent): Promise<Received> {
  try {
    return await once(address, sent);
  } catch (error) {
    if (error !== REUSED) throw error;
    return once(address, sent);
  }
}

/** The server may have closed the kept connection at that moment. */
const REUSED = new Error('a kept connection was closed');

function once(address: string, { method = 'GET', headers = {}, body, timeoutMs, pool }: Sent): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const secure = address.startsWith('https:');
  const agent = pool ? pool[secure ? 'https' : 'http'] : false;
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const options = { method, agent, headers: { ...headers, ...length }, signal: AbortSignal.timeout(timeoutMs) };
  const request = (secure ? httpsRequest : httpRequest)(address, options);
  request.on('response', (answer) => void received(answer).then(resolve, reject));
  request.on('error', (error: NodeJS.ErrnoException) =>
    reject(request.reusedSocket && error.code === 'ECONNRESET' ? REUSED : timedOut(error, timeoutMs)),
  );
  request.end(body);
  return promise;
}

const timedOut = (error: Error, timeoutMs: number): Error =>
  error.name === 'AbortError' ? new Error(`no answer within ${timeoutMs} ms`, { cause: error }) : error;

async function received(answer: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return { status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') };
}
