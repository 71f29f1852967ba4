import { lookup as resolve } from 'node:dns/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as tls } from 'node:https';
import { isIP, type LookupFunction, type OnReadOpts } from 'node:net';
import { interfaceAddresses, isInside, type Ranges, ranges, within } from './outbound-ranges.ts';

const DENIED_NAMES = /(^|\.)(localhost|svc|cluster\.local)$/;

export type Refusal = 'url' | 'scheme' | 'credentials' | 'name' | 'address' | 'redirects' | 'size' | 'time';

/** Our own rules refused the request or its response; every other failure comes from the network. */
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
  /** CIDRs that are allowed for this integration although they are denied by default (`network.allow`). */
  allow?: readonly string[];
  /** CIDRs that the deployment allows for this integration: nothing closes them, and internal names are allowed too. */
  always?: readonly string[];
  /** CIDRs outside of which nothing is called, for a server without the internet. */
  only?: readonly string[];
  /** Largest accepted body in bytes; default 10 MiB. */
  maxBytes?: number;
  /** Truncates a larger body instead of refusing it. */
  cut?: boolean;
  /** Takes the body of a success as it arrives, at the pace of the promise; the answer then has none. */
  sink?: (chunk: Buffer) => Promise<unknown>;
  /** Names of headers that stay with the first origin, in addition to Authorization and Cookie. */
  secretHeaders?: readonly string[];
  /** From the name lookup to the last byte; default 15 s. */
  timeoutMs?: number;
  /** Ports that may be called, at redirects too; default is every port. */
  ports?: readonly number[];
  /** Default 5; with 0 a redirect is returned as the response. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Address after the last redirect. */
  url: string;
  /** The address that was connected to. */
  address: string | undefined;
}

export interface Address {
  address: string;
  family: number;
}

export interface OutboundSetting {
  /** CIDRs denied in addition to the built-in ones: the cluster's pods and services. `allow` does not open them. */
  deny?: readonly string[];
  /** All addresses of a name. */
  lookup?: (name: string) => Promise<readonly Address[]>;
  /** Addresses of this machine, public ones too; default: those of its interfaces. */
  own?: () => readonly string[];
}

export type Outbound = (url: string, options?: OutboundOptions) => Promise<OutboundAnswer>;

/**
 * The only way to send requests to addresses from users, resources or files. Each address of a name is checked, and the
 * connection goes to a checked one, again at each redirect. Uses neither a proxy from the environment nor a kept
 * connection.
 */
export function createOutbound({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}): Outbound {
  const closed = { ranges: ranges(deny), own };
  return async (url, options = {}) => {
    const timeoutMs = options.timeoutMs ?? 15_000;
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), timeoutMs);
    const signal = options.signal ? AbortSignal.any([timer.signal, options.signal]) : timer.signal;
    const judge = judgeFor(closed, options);
    try {
      const { answer, step } = await follow({ url: parse(url), options, lookup, judge, signal });
      return await taken(answer, step);
    } catch (error) {
      if (timer.signal.aborted) throw new OutboundRefused('time', `no whole answer within ${timeoutMs} ms`);
      throw error;
    } finally {
      clearTimeout(timeout);
    }
  };
}

/**
 * Checks an address like a request would, without sending one. Throws `OutboundRefused`, or the error of the lookup.
 */
export function createAddressCheck({ deny = [], lookup = resolveAll, own }: OutboundSetting = {}) {
  const closed = { ranges: ranges(deny), own };
  return async (url: string, options: OutboundOptions = {}): Promise<void> => {
    const signal = AbortSignal.timeout(options.timeoutMs ?? 5000);
    await checked({ url: parse(url), options, lookup, judge: judgeFor(closed, options), signal });
  };
}

/** A lookup that returns known addresses. */
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

/** Denied ranges that nothing opens, and the addresses of this machine. */
export interface Closed {
  ranges: Ranges;
  own?: OutboundSetting['own'];
}

export function judgeFor({ ranges: closed, own = interfaceAddresses }: Closed, options: OutboundOptions): Judge {
  const open = ranges(options.allow ?? []);
  const always = ranges(options.always ?? []);
  const only = options.only && ranges(options.only);
  return (given) => {
    const address = unmapped(given);
    if (only && !(address && within(only, address)))
      throw new OutboundRefused('address', 'only addresses of the local networks are reached');
    if (address && within(always, address)) return;
    const refused = !address || within(closed, address) || (isInside(address, own()) && !within(open, address));
    if (refused) throw new OutboundRefused('address', 'this address is not reached from here');
  };
}

/** An IPv4 address inside IPv6 (::ffff:0:0/96) becomes that IPv4 address. Undefined for anything but an address. */
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

/** Throws `OutboundRefused` for anything but an address of http or https without credentials. */
export function parse(text: string, base?: string): URL {
  if (!URL.canParse(text, base)) throw new OutboundRefused('url', 'not an address');
  const url = new URL(text, base); // also normalizes 0x7f.1, 2130706433 and full-width digits
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundRefused('scheme', 'only http and https are fetched');
  }
  if (url.username || url.password) throw new OutboundRefused('credentials', 'credentials do not belong in an address');
  return url;
}

export interface Step {
  url: URL;
  options: OutboundOptions;
  lookup: (name: string) => Promise<readonly Address[]>;
  judge: Judge;
  signal: AbortSignal;
  /** Options of the connection. */
  socket?: () => { onread: OnReadOpts };
}

/** Sends the request and follows redirects; resolves with the head of the response. */
export async function follow(first: Step): Promise<{ answer: IncomingMessage; step: Step }> {
  let step = first;
  const most = first.options.maxRedirects ?? 5;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(step, await checked(step));
    const to = [301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) ? answer.headers.location : undefined;
    if (to === undefined || most === 0) return { answer, step };
    answer.destroy();
    if (redirects === most) throw new OutboundRefused('redirects', `more than ${most} redirects`);
    const url = parse(to, step.url.href);
    step = { ...step, url, options: redirected(step, url, answer.statusCode ?? 0) };
  }
}

/** The addresses of the host, all checked. */
export async function checked({ url, options, lookup, judge, signal }: Step): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const name = host.replace(/\.$/, '');
  requirePort(url, options.ports);
  const inside = !family && !options.always?.length && DENIED_NAMES.test(name);
  if (inside) throw new OutboundRefused('name', 'this name is not reached from here');
  const addresses = family ? [{ address: host, family }] : await before(lookup(name), signal);
  if (addresses.length === 0) throw new OutboundRefused('name', 'the name has no address');
  for (const { address } of addresses) judge(address);
  return addresses;
}

function requirePort(url: URL, ports: readonly number[] | undefined): void {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (ports && !ports.includes(port)) throw new OutboundRefused('address', 'this port is not reached');
}

/** A lookup cannot be cancelled, only abandoned. */
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

function send({ url, options, signal, socket }: Step, addresses: readonly Address[]): Promise<IncomingMessage> {
  const requestOptions: RequestOptions = {
    method: options.method ?? 'GET',
    headers: { 'accept-encoding': 'identity', 'user-agent': 'Foyer', ...options.headers },
    lookup: pinnedTo(addresses),
    agent: false, // a connection of its own, and no proxy
    signal,
    ...socket?.(),
  };
  return new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? tls : plain)(url, requestOptions, done);
    request.on('error', fail);
    request.on('close', () => fail(new Error('the connection ended without an answer'))); // after a 101 there is no error
    request.end(options.body);
  });
}

const MOST_BYTES = 10 << 20;

/** The announced size of a body that has to be whole; 0 without one. */
function announced({ headers }: IncomingMessage, { cut, method }: OutboundOptions): number {
  return cut || method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
}

/** The response with its body, up to the limit. */
async function taken(answer: IncomingMessage, { url, options }: Step): Promise<OutboundAnswer> {
  const maxBytes = options.maxBytes ?? MOST_BYTES;
  const address = answer.socket.remoteAddress;
  const tooLarge = (): OutboundRefused => new OutboundRefused('size', `the answer is over ${maxBytes} bytes`);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (announced(answer, options) > maxBytes) throw tooLarge();
    const sink = answer.statusCode === 200 ? options.sink : undefined;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (sink && size <= maxBytes) await sink(chunk);
      else chunks.push(chunk);
      if (size <= maxBytes) continue;
      if (!options.cut) throw tooLarge();
      break;
    }
  } finally {
    answer.destroy();
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body, url: url.href, address };
}

const SECRET = new Set(['authorization', 'cookie']);

/** The request after a redirect: no secrets to another origin, no body when the method becomes GET. */
function redirected({ url, options }: Step, to: URL, status: number): OutboundOptions {
  const { body, ...rest } = options;
  const changes = status === 303 || ([301, 302].includes(status) && options.method === 'POST');
  const secret = new Set([...SECRET, ...(options.secretHeaders ?? []).map((name) => name.toLowerCase())]);
  const headers = Object.entries(options.headers ?? {}).filter(([name]) => {
    if (to.origin !== url.origin && secret.has(name.toLowerCase())) return false;
    return !changes || !/^content-/i.test(name);
  });
  const same = { ...rest, headers: Object.fromEntries(headers) };
  if (changes) return { ...same, method: options.method === 'HEAD' ? 'HEAD' : 'GET' };
  return body === undefined ? same : { ...same, body };
}
