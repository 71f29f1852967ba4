// Egress peers of network policies, which know networks, namespaces and ports, but no host names. Pure.
import type { EgressRule, NetworkPolicyPeer, NetworkPolicyPort } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';

/** Private networks of homes and clusters. */
const NEAR = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** Includes the metadata services of clouds, which issue credentials of the node. */
const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10'];

export const tcp = (...ports: number[]): NetworkPolicyPort[] => ports.map((port) => ({ protocol: 'TCP', port }));
export const blocks = (cidrs: readonly string[]): NetworkPolicyPeer[] => cidrs.map((cidr) => ({ ipBlock: { cidr } }));

const allBut = (closed: readonly string[]): NetworkPolicyPeer[] =>
  ['0.0.0.0/0', '::/0'].map((cidr) => {
    const except = closed.filter((range) => range.includes(':') === cidr.includes(':')).sort();
    return { ipBlock: { cidr, except } };
  });

/** Only spec.network.allow opens other networks. */
export const internet = allBut([...NEAR, ...LINK_LOCAL]);
/** An external store may have any address except link-local ones. */
export const anywhere = allBut(LINK_LOCAL);
/** Private networks, for addresses that the resource declares. */
export const near = blocks(NEAR);

/** An address that the resource declares: a store, a provider, a bucket or a mail server. */
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

/** The namespace of a Service name (`name`, `name.namespace.svc`, and longer forms); undefined for other names. */
function namespaceIn(host: string, { namespace }: Server): string | undefined {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(host)) return namespace;
  return /^[^.]+\.([^.]+)\.svc(\.|$)/.exec(host)?.[1];
}

/**
 * Rules for the ports of these places in `networks`, and for the namespaces of places that are Services. The latter allow any
 * port, because a policy applies to the port of the pod, which may differ from that of the Service.
 */
export function toPlaces(
  places: readonly Place[],
  networks: readonly NetworkPolicyPeer[],
  server: Server,
): EgressRule[] {
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
