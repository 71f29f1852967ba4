import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import type { Client } from '#identity/client.ts';
import { wholeBody } from './body.ts';
import { type Issue, invalid } from './errors.ts';
import { shapeFault } from './json-shape.ts';
import { Upload } from './uploads.ts';

interface Built {
  list: BlockList;
  /** Cached results, because households have few addresses. */
  known: Map<string, boolean>;
}

/** Built lists, which are few and change rarely. */
const built = new WeakMap<readonly string[], Built>();
const REMEMBERED = 10_000;

/** Membership in a list of CIDR ranges. */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  if (ranges.length === 0) return false;
  let ready = built.get(ranges);
  if (!ready) {
    ready = { list: blockList(ranges), known: new Map() };
    built.set(ranges, ready);
  }
  const known = ready.known.get(address);
  if (known !== undefined) return known;
  const family = isIP(address);
  const inside = family !== 0 && ready.list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  if (ready.known.size >= REMEMBERED) ready.known.clear();
  ready.known.set(address, inside);
  return inside;
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    const family = isIP(network);
    const most = family === 6 ? 128 : 32;
    const size = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.POSITIVE_INFINITY;
    if (family && size <= most) list.addSubnet(network, size, family === 6 ? 'ipv6' : 'ipv4'); // an invalid range contains no address
  }
  return list;
}

/** The IPv4 address of an address mapped into IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The address, or the /64 network of an IPv6 address, which one household shares. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [front = [], back = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = address.includes('::') ? Math.max(0, 8 - front.length - back.length) : 0;
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The network of an address that one sender may control: a /24, or a /64 of IPv6. */
export function addressNetwork(address: string): string {
  return isIP(address) === 4 ? `${address.slice(0, address.lastIndexOf('.'))}.0/24` : addressGroup(address);
}

export interface Network {
  trustedProxies: readonly string[];
  localRanges: readonly string[];
}

const peerOf = ({ socket }: IncomingMessage): string => plain(socket.remoteAddress ?? '');

const isProxied = (request: IncomingMessage, { trustedProxies }: Pick<Network, 'trustedProxies'>): boolean =>
  inRanges(peerOf(request), trustedProxies);

/** Whether the client used TLS, to this process or to a trusted proxy. */
export const isSecure = (request: IncomingMessage, network: Pick<Network, 'trustedProxies'>): boolean =>
  'encrypted' in request.socket || (request.headers['x-forwarded-proto'] === 'https' && isProxied(request, network));

/** The client behind trusted proxies. */
export function clientOf(request: IncomingMessage, network: Network): Client {
  const { headers } = request;
  const proxied = isProxied(request, network);
  const address = proxied ? forwardedFor(peerOf(request), request, network) : peerOf(request);
  const id = headerText(headers['x-client-id'], /^[A-Za-z0-9._-]{16,64}$/);
  const name = headerText(headers['x-client-name'], /^[^\p{C}]{1,200}$/u)?.slice(0, 60);
  const userAgent = headers['user-agent']?.slice(0, 300);
  return {
    address,
    local: inRanges(address, network.localRanges),
    secure: isSecure(request, network),
    proxied,
    ...(id && { id }),
    ...(name && { name }),
    ...(userAgent && { userAgent }),
  };
}

/** The client address from forwarding headers, read right to left while each hop is a trusted proxy. */
function forwardedFor(peer: string, request: IncomingMessage, network: Network): string {
  const hops = String(request.headers['x-forwarded-for'] ?? '').split(',');
  let address = peer;
  for (const hop of hops.reverse().map((text) => plain(text.trim()))) {
    if (!isIP(hop)) break;
    address = hop;
    if (!inRanges(hop, network.trustedProxies)) break;
  }
  return address;
}

function headerText(value: string | string[] | undefined, shape: RegExp): string | undefined {
  return typeof value === 'string' && shape.test(value) ? value : undefined;
}

/** The request id of the caller when it is valid. */
export function requestIdOf(request: IncomingMessage): string | undefined {
  return headerText(request.headers['x-request-id'], /^[A-Za-z0-9._-]{1,64}$/);
}

/** The JSON body; undefined without one. Throws 413 over `maxBytes`, 400 for invalid JSON. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await wholeBody(request, maxBytes);
  if (bytes.length === 0) return undefined;
  if (!/^application\/([a-z.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')) {
    throw invalid(['headers', 'content-type'], 'not_json', 'the body must be application/json');
  }
  const fault = shapeFault(bytes);
  if (fault) throw invalid(['body'], fault, 'the body holds too many values, or they lie too deep');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), withoutPrototype);
  } catch {
    throw invalid(['body'], 'invalid_json', 'the body is not valid JSON');
  }
}

/** Drops `__proto__` from JSON, which no schema uses. */
function withoutPrototype(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}

const NOT_TEXT = 'text may hold no NUL and no half of a surrogate pair';

type Parsed = { ok: true; value: unknown } | { ok: false; issues: Issue[] };

/** Validates one part of the request by its schema; issues have the paths and codes of the API. */
export function parsePart(
  part: 'params' | 'query' | 'body',
  schema: z.core.$ZodType | undefined,
  value: unknown,
): Parsed {
  if (!schema) return { ok: true, value: undefined };
  const result = z.safeParse(schema, value);
  const unsaid = textIssues(part, value);
  if (result.success) return unsaid.length > 0 ? { ok: false, issues: unsaid } : { ok: true, value: result.data };
  const known = new Set(unsaid.map(({ path }) => path.join('.')));
  const issues = result.error.issues.flatMap((issue) => issuesOf(part, issue));
  return { ok: false, issues: [...unsaid, ...issues.filter(({ path }) => !known.has(path.join('.')))] };
}

const isText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Issues for a NUL or half a surrogate pair, which Postgres cannot store. Walks without recursion, because JSON may be deep. */
function textIssues(part: string, value: unknown): Issue[] {
  const issues: Issue[] = [];
  const left: [Issue['path'], unknown][] = [[[part], value]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [path, held] = next;
    if (typeof held === 'string' && !isText(held)) issues.push({ path, code: 'not_text', message: NOT_TEXT });
    if (typeof held !== 'object' || held === null || held instanceof Upload) continue;
    for (const [name, member] of Object.entries(held)) {
      if (!isText(name)) issues.push({ path, code: 'not_text', message: NOT_TEXT });
      else left.push([[...path, Array.isArray(held) ? Number(name) : name], member]);
    }
  }
  return issues;
}

function issuesOf(part: string, issue: z.core.$ZodIssue): Issue[] {
  const path = [part, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      code: 'unknown_field',
      message: 'there is no such field',
    }));
  }
  const code = issue.code === 'custom' ? String(issue.params?.code ?? 'custom') : issue.code;
  return [{ path, code, message: issue.message }];
}

/** Members of a query, with a list for a repeated one. It runs in one pass, unlike the quadratic parser of koa. */
export function queryOf(text: string): Record<string, string | string[]> {
  const members = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = members.get(name);
    if (Array.isArray(known)) known.push(value);
    else members.set(name, known === undefined ? value : [known, value]);
  }
  return Object.fromEntries(members);
}

/** Issues for repeated and unknown query members, so that a misspelt one is not ignored. */
export function queryIssues(query: Record<string, unknown>, schema: z.core.$ZodType | undefined): Issue[] {
  const known = schema instanceof z.ZodObject ? schema.shape : {};
  return Object.entries(query).flatMap(([name, value]): Issue[] => {
    if (!Object.hasOwn(known, name))
      return [{ path: ['query', name], code: 'unknown_field', message: 'there is no such parameter' }];
    return Array.isArray(value) ? [{ path: ['query', name], code: 'duplicate', message: 'given more than once' }] : [];
  });
}
