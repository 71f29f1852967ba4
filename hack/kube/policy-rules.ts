// Translates networking.k8s.io/v1 NetworkPolicies of the pods of one node into an nftables table. Pure.

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Port {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: Port[];
}
export interface Policy {
  metadata: { name: string; namespace: string };
  spec: { podSelector?: Selector; policyTypes?: string[]; ingress?: Rule[]; egress?: Rule[] };
}
export interface Pod {
  metadata: { name: string; namespace: string; labels?: Record<string, string> };
  spec: {
    hostNetwork?: boolean;
    containers: { ports?: { name?: string; containerPort: number; protocol?: string }[] }[];
  };
  status?: { podIP?: string; phase?: string };
}
export interface Namespace {
  metadata: { name: string; labels?: Record<string, string> };
}
export interface Observed {
  policies: readonly Policy[];
  pods: readonly Pod[];
  namespaces: readonly Namespace[];
}
type Way = 'ingress' | 'egress';

const TYPES = { ingress: 'Ingress', egress: 'Egress' } as const;
/** The address of the other side of a connection, by direction. */
const FAR = { ingress: 'ip saddr', egress: 'ip daddr' } as const;

function expressionFits(labels: Record<string, string>, one: { key: string; operator: string; values?: string[] }) {
  const { key, operator, values = [] } = one;
  const value = labels[key];
  const among = value !== undefined && values.includes(value);
  const fits: Record<string, boolean> = {
    In: among,
    NotIn: !among,
    Exists: value !== undefined,
    DoesNotExist: value === undefined,
  };
  return fits[operator] ?? false;
}

function fits({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Record<string, string> = {}): boolean {
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return equal && matchExpressions.every((one) => expressionFits(labels, one));
}

/** Pods that have their own address and still run. */
const addressed = (pods: readonly Pod[]): Pod[] =>
  pods.filter(
    ({ spec, status }) => status?.podIP && !spec.hostNetwork && !['Succeeded', 'Failed'].includes(status.phase ?? ''),
  );

const addressOf = ({ status }: Pod): string => status?.podIP ?? '';

const isOf = ({ spec }: Policy, way: Way): boolean =>
  (spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress'])).includes(TYPES[way]);

const selects = ({ metadata, spec }: Policy, pod: Pod): boolean =>
  metadata.namespace === pod.metadata.namespace && fits(spec.podSelector ?? {}, pod.metadata.labels);

/** The pods that a peer selects, for a policy of this namespace. */
function podsOf({ podSelector, namespaceSelector }: Peer, namespace: string, observed: Observed): Pod[] {
  const inside = (name: string): boolean => {
    if (!namespaceSelector) return name === namespace;
    return fits(namespaceSelector, observed.namespaces.find(({ metadata }) => metadata.name === name)?.metadata.labels);
  };
  const named = (pod: Pod) => inside(pod.metadata.namespace) && fits(podSelector ?? {}, pod.metadata.labels);
  return addressed(observed.pods).filter(named);
}

const among = (parts: readonly string[]): string => `{ ${[...new Set(parts)].sort().join(', ')} }`;
const ofFour = (cidr: string): boolean => !cidr.includes(':');

/** A match for the pods or the IP block of a peer; undefined where the peer selects no existing pod. */
function farEnd(peer: Peer, far: string, pods: readonly Pod[]): { match: string; pods?: readonly Pod[] } | undefined {
  if (!peer.ipBlock) return pods.length > 0 ? { match: `${far} ${among(pods.map(addressOf))}`, pods } : undefined;
  const { cidr, except = [] } = peer.ipBlock;
  if (!ofFour(cidr)) return undefined;
  const left = except.filter(ofFour);
  return { match: [`${far} ${cidr}`, ...(left.length > 0 ? [`${far} != ${among(left)}`] : [])].join(' ') };
}

function portOf({ protocol = 'TCP', port, endPort }: Port, pods: readonly Pod[]): string[] {
  const kind = protocol.toLowerCase();
  if (port === undefined) return [`meta l4proto ${kind}`];
  if (typeof port === 'number') return [`${kind} dport ${port}${endPort ? `-${endPort}` : ''}`];
  const numbers = pods
    .flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }) => ports))
    .filter((one) => one.name === port && (one.protocol ?? 'TCP') === protocol)
    .map(({ containerPort }) => String(containerPort));
  return numbers.length > 0 ? [`${kind} dport ${among(numbers)}`] : [];
}

/** Matches for the traffic that one rule of a policy allows. */
function allowed(
  rule: Rule,
  { policy, pod, way }: { policy: Policy; pod: Pod; way: Way },
  observed: Observed,
): string[] {
  const peers = (way === 'ingress' ? rule.from : rule.to) ?? [];
  const ends =
    peers.length === 0
      ? [{ match: '' }]
      : peers.flatMap((peer) => farEnd(peer, FAR[way], podsOf(peer, policy.metadata.namespace, observed)) ?? []);
  return ends.flatMap((end) => {
    const holders = way === 'ingress' ? [pod] : 'pods' in end ? (end.pods ?? []) : [];
    const ports = rule.ports?.length ? rule.ports.flatMap((port) => portOf(port, holders)) : [''];
    return ports.map((port) => `${end.match} ${port}`.trim());
  });
}

/** Undefined for a pod that no policy of this direction selects: all its traffic is allowed. */
function chainOf(pod: Pod, way: Way, observed: Observed): string[] | undefined {
  const policies = observed.policies.filter((policy) => isOf(policy, way) && selects(policy, pod));
  if (policies.length === 0) return undefined;
  const open = policies.flatMap((policy) =>
    (policy.spec[way] ?? []).flatMap((rule) => allowed(rule, { policy, pod, way }, observed)),
  );
  return [...[`${FAR[way]} ${addressOf(pod)}`, ...new Set(open)].map((match) => `${match} return`.trim()), 'drop'];
}

/**
 * Replaces the whole table. Traffic from `link` comes from the machine itself, as from a node: policies do not apply to it.
 */
export function rulesOf(observed: Observed, link: string): string {
  const chains: string[] = [];
  const jumps = { ingress: [] as string[], egress: [] as string[] };
  for (const [index, pod] of addressed(observed.pods).entries())
    for (const way of ['ingress', 'egress'] as const) {
      const lines = chainOf(pod, way, observed);
      if (!lines) continue;
      chains.push(`chain ${way}-${index} {\n  ${lines.join('\n  ')}\n}`);
      jumps[way].push(`${addressOf(pod)} : jump ${way}-${index}`);
    }
  const begun = 'ct state established,related accept';
  const out = jumps.egress.length > 0 ? [`ip saddr vmap ${among(jumps.egress)}`] : [];
  const into = jumps.ingress.length > 0 ? [`ip daddr vmap ${among(jumps.ingress)}`] : [];
  const forward = [begun, `iifname "${link}" accept`, ...out, ...into].join('; ');
  const table = [
    ...chains,
    `chain forward { type filter hook forward priority 0; ${forward}; }`,
    `chain input { type filter hook input priority 0; ${[begun, ...out].join('; ')}; }`, // traffic from pods to the node
  ];
  const name = 'inet foyer-policies';
  return `table ${name}\ndelete table ${name}\ntable ${name} {\n${table.join('\n')}\n}\n`;
}
