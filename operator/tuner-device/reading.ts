// The way of the workers to a tuner: they read its lineup or playlist and its guide, and test its channels. Pure.
import { isIP, isIPv6 } from 'node:net';
import { selectorOf } from '../media-server/desired/meta.ts';
import { blocks, near, type Place, placeOf, tcp } from '../media-server/desired/network-peers.ts';
import type { EgressRule, Manifest, NetworkPolicyPeer } from '../runtime/manifest.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';

interface Tuner {
  spec: TunerDeviceSpec;
  server: { name: string; spec: MediaServerSpec };
  /** Referenced values. */
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Of the streams of an HDHomeRun. */
const STREAM_PORT = 5004;
/** Metadata services of clouds, by the private network that they are in. */
const METADATA: Record<string, string[]> = {
  '100.64.0.0/10': ['100.100.100.200/32'],
  'fc00::/7': ['fd00:ec2::254/128'],
};
/** Those services, the pod itself, and IPv4 that is written as IPv6. */
const NEVER = /^(169\.254\.|127\.|100\.100\.100\.200$|fd00:ec2::254$|fe[89ab]|::1$|::ffff:)/i;

/** The policies of the server let workers reach the internet and the networks of spec.network.allow.live alone. */
export function readingPolicy(
  tuner: Tuner,
  metadata: Manifest<'NetworkPolicy'>['metadata'],
): Manifest<'NetworkPolicy'>[] {
  const egress = tuner.server.spec.network.allow.live.length > 0 ? [] : rulesFor(tuner);
  if (egress.length === 0) return [];
  const podSelector = { matchLabels: selectorOf(tuner.server, 'workers') };
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, name: `${metadata.name}-reading` },
      spec: { podSelector, policyTypes: ['Egress'], egress },
    },
  ];
}

const PRIVATE: NetworkPolicyPeer[] = near.map(({ ipBlock: { cidr = '' } = {} }) => {
  const except = METADATA[cidr];
  return { ipBlock: { cidr, ...(except && { except }) } };
});

function rulesFor(tuner: Tuner): EgressRule[] {
  const source = sourceOf(tuner);
  if (source.length === 0) return [{ to: PRIVATE }]; // an address that only the row of the tuner, or its broadcast, has
  const places = [...source, ...guideOf(tuner)].map(({ host, port }) => ({ host: host.replace(/^\[|\]$/g, ''), port }));
  const exact = places.filter(({ host }) => isIP(host) !== 0 && !NEVER.test(host)).map(({ host }) => host);
  const named = places.filter(({ host }) => isIP(host) === 0).map(({ port }) => port);
  const ports = [...new Set(named)].sort((a, b) => a - b);
  const cidrs = [...new Set(exact)].sort().map((host) => `${host}/${isIPv6(host) ? 128 : 32}`);
  return [
    ...(cidrs.length > 0 ? [{ to: blocks(cidrs) }] : []),
    ...(ports.length > 0 ? [{ to: PRIVATE, ports: tcp(...ports) }] : []),
  ];
}

function sourceOf({ spec, secrets }: Tuner): Place[] {
  const { hdhomerun, m3u } = spec.source;
  if (hdhomerun?.address) return deviceAt(hdhomerun.address);
  const ref = m3u?.urlSecretRef;
  return placeOf(m3u?.url ?? (ref && secrets.get(ref.name)?.[ref.key]));
}

function guideOf({ spec, secrets }: Tuner): Place[] {
  const { url, urlSecretRef: ref } = spec.guide?.xmltv ?? {};
  return placeOf(url ?? (ref && secrets.get(ref.name)?.[ref.key]));
}

/** Host or host:port, with the port of its streams. */
function deviceAt(address: string): Place[] {
  const [place] = placeOf(`http://${isIPv6(address) ? `[${address}]` : address}`);
  return place ? [place, { ...place, port: STREAM_PORT }] : [];
}
