// Addresses of tuners: their masked form, and the networks they may be in.
import type { Config } from '#platform/config.ts';
import { type Address, createOutbound, type Outbound, type OutboundOptions } from '#platform/outbound.ts';
import type { Settings } from '#platform/settings.ts';

const MASK = '***';
/** Members of a query that hold no credential. */
const PLAIN = new Set(['type', 'output', 'format']);
/** A part of a path that looks like a key: long, of letters and digits. */
const isKey = (part: string): boolean =>
  part.length >= 16 && /^[A-Za-z0-9_-]+$/.test(part) && /\d/.test(part) && /[A-Za-z]/.test(part);

/** The address without names, passwords and keys: of its query only these members are shown. */
export function maskedAddress(address: string, plain: ReadonlySet<string> = PLAIN): string {
  const url = new URL(address);
  const user = url.username || url.password ? `${MASK}@` : '';
  const path = url.pathname
    .split('/')
    .map((part) => (isKey(part) ? MASK : part))
    .join('/');
  const members = [...url.searchParams].map(([name, value]) => `${name}=${plain.has(name) ? value : MASK}`);
  return `${url.protocol}//${user}${url.host}${path}${members.length > 0 ? `?${members.join('&')}` : ''}`;
}

/** The address as requests send it: a name and password become a header. */
export function requestOf(address: string): { url: string; headers: Record<string, string> } {
  const url = new URL(address);
  const { username, password } = url;
  url.hash = '';
  if (!username && !password) return { url: url.href, headers: {} };
  url.username = '';
  url.password = '';
  const plain = `${decoded(username)}:${decoded(password)}`;
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(plain).toString('base64')}` } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Networks in which tuners and guides may be: the internet, those of the setting, and those that the deployment names. */
export const liveNetworks = (deps: { settings: Settings; config: Config }): OutboundOptions => ({
  allow: deps.settings.get('live.allowedNetworks'),
  always: deps.config.liveNetworks,
});

/** The client for addresses of tuners and guides; only workers of the queue `live` use it. */
export const liveOutbound = (
  { clusterNetworks, apiServerNetworks }: Config,
  lookup?: (name: string) => Promise<readonly Address[]>,
): Outbound => createOutbound({ deny: [...clusterNetworks, ...apiServerNetworks], ...(lookup && { lookup }) });
