import { lookup as resolve } from 'node:dns/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as tls } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { interfaceAddresses, isInside, type Ranges, ranges, within } from './outbound-ranges.ts';

const DENIED_NAMES = /(^|\.)(localhost|svc|cluster\.local)$/;

export type Refusal = 'url' | 'scheme' | 'credentials' | 'name' | 'address' | 'redirects' | 'size' | 'time';

/** The request was not sent, or its answer not taken, by our own rules; every other failure is the network's. */
export class OutboundRefused extends Error {
  readonly reason: Refusal;
  constructor(reason: Refusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface OutboundOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** CIDRs that may be reached although they are denied by default: those of this integration (`network.allow`). */
  allow?: readonly string[];
  /** CIDRs that the deployment itself names for this integration: nothing closes these, no name of the inside either. */
  always?: readonly string[];
  /** Largest body taken, bytes; 10 MiB when absent. */
  maxBytes?: number;
  /** What is over `maxBytes` is left off instead of refused. */
  cut?: boolean;
  /** From the look-up of the name to the last byte; 15 s when absent. */
  timeoutMs?: number;
  /** 5 when absent; with 0 the answer that redirects is itself the answer. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Where the last redirect led. */
  url: string;
  /** Connected to. */
  address: string | undefined;
}

export interface Address {
  address: string;
  family: number;
}

export interface OutboundSetting {
  /** CIDRs beside the built-in ones: the cluster's pods and services. `allow` does not open these. */
  deny?: readonly string[];
  /** Every address of a name. */
  lookup?: (name: string) => Promise<readonly Address[]>;
  /** Addresses of this machine, public ones too; those of its interfaces when absent. */
  own?: () => readonly string[];
}

export type Outbound = (url: string, ask?: OutboundOptions) => Promise<OutboundAnswer>;

/**
 * The one way out for addresses that people, resources or files name. Each address of a name is judged and the connection
 * goes to one of those judged, at each redirect anew; no proxy of the environment and no kept connection is used.
 */
export function createOutbound({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}): Outbound {
  const closed = { ranges: ranges(deny), own };
  return async (url, ask = {}) => {
    const timeoutMs = ask.timeoutMs ?? 15_000;
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), timeoutMs);
    const signal = ask.signal ? AbortSignal.any([timer.signal, ask.signal]) : timer.signal;
    const judge = judgeFor(closed, ask);
    try {
      return await follow({ url: parse(url), ask, lookup, judge, signal });
    } catch (error) {
      if (timer.signal.aborted) throw new OutboundRefused('time', `no whole answer within ${timeoutMs} ms`);
      throw error;
    } finally {
      clearTimeout(timeout);
    }
  };
}

/** Judges an address as a request to it would be, without one. Throws `OutboundRefused`, or what the look-up says. */
export function createAddressCheck({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}) {
  const closed = { ranges: ranges(deny), own };
  return async (url: string, ask: OutboundOptions = {}): Promise<void> => {
    const signal = AbortSignal.timeout(ask.timeoutMs ?? 5000);
    await checked({ url: parse(url), ask, lookup, judge: judgeFor(closed, ask), signal });
  };
}

/** Answers a look-up by addresses that are known. */
export const pinnedTo =
  (addresses: readonly Address[]): LookupFunction =>
  (_name, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };

export async function resolveAll(name: string): Promise<readonly Address[]> {
  return resolve(name, { all: true, verbatim: true });
}

type Judge = (address: string) => void;

/** What is not reached: ranges that nothing opens, and this machine. */
export interface Closed {
  ranges: Ranges;
  own?: OutboundSetting['own'];
}

export function judgeFor({ ranges: closed, own = interfaceAddresses }: Closed, ask: OutboundOptions): Judge {
  const open = ranges(ask.allow ?? []);
  const always = ranges(ask.always ?? []);
  return (given) => {
    const address = unmapped(given);
    if (address && within(always, address)) return;
    const refused = !address || within(closed, address) || (isInside(address, own()) && !within(open, address));
    if (refused) throw new OutboundRefused('address', 'this address is not reached from here');
  };
}

/** An IPv4 address inside IPv6 (::ffff:0:0/96) is that IPv4 address. Undefined for what is no address. */
function unmapped(address: string): string | undefined {
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : undefined;
  if (!URL.canParse(`http://[${address}]/`)) return undefined; // a zone, such as fe80::1%eth0
  const whole = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(whole) ?? [];
  if (!high || !low) return whole;
  return [high, low]
    .map((part) => Number.parseInt(part, 16))
    .flatMap((part) => [part >> 8, part & 255])
    .join('.');
}

function parse(text: string, base?: string): URL {
  if (!URL.canParse(text, base)) throw new OutboundRefused('url', 'not an address');
  const url = new URL(text, base); // also makes one spelling of 0x7f.1, 2130706433 and full-width digits
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundRefused('scheme', 'only http and https are fetched');
  }
  if (url.username || url.password) throw new OutboundRefused('credentials', 'credentials do not belong in an address');
  return url;
}

interface Step {
  url: URL;
  ask: OutboundOptions;
  lookup: (name: string) => Promise<readonly Address[]>;
  judge: Judge;
  signal: AbortSignal;
}

async function follow(first: Step): Promise<OutboundAnswer> {
  let step = first;
  const most = first.ask.maxRedirects ?? 5;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(step, await checked(step));
    const to = [301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) ? answer.headers.location : undefined;
    if (to === undefined || most === 0) return taken(answer, step);
    answer.destroy();
    if (redirects === most) throw new OutboundRefused('redirects', `more than ${most} redirects`);
    const url = parse(to, step.url.href);
    step = { ...step, url, ask: askAgain(step, url, answer.statusCode ?? 0) };
  }
}

/** Addresses of the host, each of them judged. */
async function checked({ url, ask, lookup, judge, signal }: Step): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const name = host.replace(/\.$/, '');
  const inside = !family && !ask.always?.length && DENIED_NAMES.test(name);
  if (inside) throw new OutboundRefused('name', 'this name is not reached from here');
  const addresses = family ? [{ address: host, family }] : await before(lookup(name), signal);
  if (addresses.length === 0) throw new OutboundRefused('name', 'the name has no address');
  for (const { address } of addresses) judge(address);
  return addresses;
}

/** A look-up cannot be stopped, only left behind. */
async function before<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function send({ url, ask, signal }: Step, addresses: readonly Address[]): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: ask.method ?? 'GET',
    headers: { 'accept-encoding': 'identity', 'user-agent': 'Foyer', ...ask.headers },
    lookup: pinnedTo(addresses),
    agent: false, // a connection of its own, and no proxy
    signal,
  };
  return new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? tls : plain)(url, options, done);
    request.on('error', fail);
    request.on('close', () => fail(new Error('the connection ended without an answer'))); // after a 101 there is no error
    request.end(ask.body);
  });
}

/** The answer with its body, as far as the limit lets it in. */
async function taken(answer: IncomingMessage, { url, ask }: Step): Promise<OutboundAnswer> {
  const maxBytes = ask.maxBytes ?? 10 << 20;
  const address = answer.socket.remoteAddress;
  const tooLarge = (): OutboundRefused => new OutboundRefused('size', `the answer is over ${maxBytes} bytes`);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (!ask.cut && ask.method !== 'HEAD' && Number(answer.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) continue;
      if (!ask.cut) throw tooLarge();
      break;
    }
  } finally {
    answer.destroy();
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body, url: url.href, address };
}

const SECRET = new Set(['authorization', 'cookie']);

/** What is asked after a redirect: no secret for another origin, no body where the method becomes GET. */
function askAgain({ url, ask }: Step, to: URL, status: number): OutboundOptions {
  const { body, ...rest } = ask;
  const changes = status === 303 || ([301, 302].includes(status) && ask.method === 'POST');
  const headers = Object.entries(ask.headers ?? {}).filter(([name]) => {
    if (to.origin !== url.origin && SECRET.has(name.toLowerCase())) return false;
    return !changes || !/^content-/i.test(name);
  });
  const same = { ...rest, headers: Object.fromEntries(headers) };
  if (changes) return { ...same, method: ask.method === 'HEAD' ? 'HEAD' : 'GET' };
  return body === undefined ? same : { ...same, body };
}
