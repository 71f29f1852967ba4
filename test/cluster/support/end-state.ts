// What a namespace holds, in words that two runs of the same can be compared by.
import type { Kubectl } from './kubectl.ts';

interface Held {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  type?: string;
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  status?: Record<string, unknown>;
}

const OURS = 'mediaservers,libraries,tunerdevices';
export const CHILDREN = [
  ...['deployments', 'statefulsets', 'jobs', 'services', 'secrets', 'configmaps', 'serviceaccounts'],
  ...['networkpolicies', 'poddisruptionbudgets', 'horizontalpodautoscalers', 'ingresses'],
].join(',');
const MANAGED = 'app.kubernetes.io/managed-by=foyer-operator';

/** Set by controllers of Kubernetes, or counted up by it. */
const THEIRS = /^(deployment\.kubernetes\.io|kubectl\.kubernetes\.io|batch\.kubernetes\.io|statefulset\.kubernetes\.io)\//;
const THEIR_SPEC = ['clusterIP', 'clusterIPs', 'selector', 'manualSelector'];

const mine = (entries: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(entries)
      .filter(([key]) => !THEIRS.test(key) && key !== 'controller-uid' && key !== 'job-name')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Of a child what is wanted of it; of a Secret the names of its values only. */
function told({ kind, metadata, type, spec, data, status }: Held): object {
  const about = { labels: mine(metadata.labels), annotations: mine(metadata.annotations) };
  if (kind === 'Secret') return { ...about, type, data: Object.keys(data ?? {}).sort() };
  if (['MediaServer', 'Library', 'TunerDevice'].includes(kind)) return { ...about, spec, status };
  const wanted = Object.fromEntries(Object.entries(spec ?? {}).filter(([key]) => !THEIR_SPEC.includes(key)));
  return { ...about, spec: wanted, data };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** Of names and checksums that depend on generated secrets. */
const DIGEST = /(?<![0-9a-z])[0-9a-f]{10}([0-9a-f]{54})?(?![0-9a-z])/g;

const plain = (text: string, namespace: string): string =>
  text.replaceAll(namespace, 'NAMESPACE').replace(UUID, 'UID').replace(TIME, 'TIME').replace(DIGEST, 'DIGEST');

/** By kind and name; without uids, times, generated values and what follows from them. */
export async function endState(kubectl: Kubectl, namespace: string): Promise<Record<string, unknown>> {
  const [ours, children] = await Promise.all([
    kubectl.list<Held>(OURS, namespace),
    kubectl.list<Held>(CHILDREN, namespace, MANAGED),
  ]);
  const entries = [...ours, ...children].map((held) => [`${held.kind} ${held.metadata.name}`, told(held)]);
  const text = plain(JSON.stringify(Object.fromEntries(entries)), namespace);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Values of Secrets by name, to see whether they are ever made anew. */
export async function secretValues(kubectl: Kubectl, namespace: string): Promise<Record<string, string>> {
  const secrets = await kubectl.list<Held>('secrets', namespace, MANAGED);
  return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, JSON.stringify(data)]));
}
