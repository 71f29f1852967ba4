// Whom pods may call, as a policy can say it: it knows networks, namespaces and ports, and no host names. Pure.
import type { Server } from '../server.ts';

/** Of houses and clusters. */
const NEAR = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** With the metadata services of clouds, which hand out credentials of the node. */
const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10'];

export const tcp = (...ports: number[]): object[] => ports.map((port) => ({ protocol: 'TCP', port }));
export const blocks = (cidrs: readonly string[]): object[] => cidrs.map((cidr) => ({ ipBlock: { cidr } }));

const allBut = (closed: readonly string[]): object[] =>
  ['0.0.0.0/0', '::/0'].map((cidr) => {
    const except = closed.filter((range) => range.includes(':') === cidr.includes(':')).sort();
    return { ipBlock: { cidr, except } };
  });

/** Other networks are opened by spec.network.allow alone. */
export const internet = allBut([...NEAR, ...LINK_LOCAL]);
/** A store of somebody else may stand anywhere, but where nodes tell of themselves. */
export const anywhere = allBut(LINK_LOCAL);
/** What the internet leaves out and a resource may name. */
export const near = blocks(NEAR);

/** What a resource names: a store, a provider, a bucket, a relay. */
export interface Place {
  host: string;
  port: number;
}

const DEFAULT_PORTS: Record<string, number> = { 'postgres:': 5432, 'postgresql:': 5432, 'http:': 80, 'https:': 443 };
const REDIS_PORT = 6379;

export function placeOf(address: string | undefined): Place[] {
  if (!address || !URL.canParse(address)) return [];
  const { hostname: host, port, protocol } = new URL(address);
  return [{ host, port: port ? Number(port) : (DEFAULT_PORTS[protocol] ?? REDIS_PORT) }];
}

/** Of a Service: `name`, `name.namespace.svc`, and what may follow; undefined for any other name. */
function namespaceIn(host: string, { namespace }: Server): string | undefined {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(host)) return namespace;
  return /^[^.]+\.([^.]+)\.svc(\.|$)/.exec(host)?.[1];
}

/**
 * To the ports of these places in `networks`; and to the namespaces of those that are Services, at any port: a policy is asked for
 * the port of the pod behind a Service, which may be another.
 */
export function toPlaces(places: readonly Place[], networks: readonly object[], server: Server): object[] {
  const ports = [...new Set(places.map(({ port }) => port))].sort((a, b) => a - b);
  const found = places.flatMap(({ host }) => namespaceIn(host, server) ?? []);
  const namespaces = [...new Set(found)].sort().map((name) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
  }));
  return [
    ...(ports.length > 0 ? [{ to: networks, ports: tcp(...ports) }] : []),
    ...(namespaces.length > 0 ? [{ to: namespaces }] : []),
  ];
}
