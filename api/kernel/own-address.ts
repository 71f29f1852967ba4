import { isIP } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { withoutTail } from '#platform/text.ts';
import type { Call } from './endpoint.ts';
import { inRanges } from './request.ts';

/** Origin of this server for links: `server.publicUrl`, else the host of the request if it belongs to this server. */
export function ownAddress(call: Call): string {
  const { client, deps, headers } = call;
  const published = deps.settings.get('server.publicUrl');
  if (published) return withoutTail(published, '/');
  const host = headers.host ?? '';
  const known = isHost(host) && (client.proxied || isOurs(call, nameOf(host)));
  return `${client.secure ? 'https' : 'http'}://${known ? host : `${firstAddress()}:${deps.config.port}`}`;
}

/** Whether the text is a host name or address, with or without a port. */
const isHost = (host: string): boolean =>
  host.length <= 260 && /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host);

/** Normalized host name or address, like in a browser; empty for an invalid one. */
const nameOf = (host: string): string =>
  withoutTail(URL.parse(`http://${host}`)?.hostname ?? '', '.').replace(/^\[|\]$/g, '');

/** Name suffixes of local networks that cannot be registered (RFC 6761, 6762, 8375 and common use). */
const PRIVATE_ENDS = ['localhost', 'local', 'lan', 'internal', 'home.arpa', 'svc', 'test'];
const PRIVATE_RANGES = [
  '10.0.0.0/8',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/** Whether the name belongs to this server, because a client can send any. */
function isOurs({ deps }: Call, name: string): boolean {
  if (isIP(name)) return inRanges(name, PRIVATE_RANGES) || ownAddresses().includes(name);
  const { settings } = deps;
  const configured = [...settings.get('network.corsOrigins'), ...settings.get('auth.oidc.redirectUris')];
  const isPrivate = !name.includes('.') || PRIVATE_ENDS.some((end) => name.endsWith(`.${end}`));
  const isNamed = name === hostname().toLowerCase() || configured.some((url) => URL.parse(url)?.hostname === name);
  return name !== '' && (isPrivate || isNamed);
}

const interfaces = (): NetworkInterfaceInfo[] => Object.values(networkInterfaces()).flatMap((each = []) => each);

const ownAddresses = (): string[] => interfaces().map(({ address }) => address);

/** The first address of this machine in its network. */
function firstAddress(): string {
  const reached = interfaces().find(({ internal, family }) => !internal && family === 'IPv4');
  return reached?.address ?? '127.0.0.1';
}
