// The content of a namespace, in a form that two runs of the same can be compared by.
import type { Kubectl } from './kubectl.ts';

export interface Held {
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  type?: string;
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  status?: Record<string, unknown>;
}

/** Of all three kinds. */
const OURS = 'mediaservers,libraries,tunerdevices';
export const CHILDREN = [
  ...['deployments', 'statefulsets', 'jobs', 'services', 'secrets', 'configmaps', 'serviceaccounts'],
  ...['networkpolicies', 'poddisruptionbudgets', 'horizontalpodautoscalers', 'ingresses'],
].join(',');
const MANAGED = 'app.kubernetes.io/managed-by=foyer-operator';

/** Set by controllers of Kubernetes, or counted up by it. */
const THEIRS =
  /^(deployment\.kubernetes\.io|kubectl\.kubernetes\.io|batch\.kubernetes\.io|statefulset\.kubernetes\.io)\//;
/** Digests of content that holds generated names. */
const APPLIED = 'foyer.media/applied';
const THEIR_SPEC = ['clusterIP', 'clusterIPs', 'selector', 'manualSelector'];

const mine = (entries: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(entries)
      .filter(([key]) => !THEIRS.test(key) && ![APPLIED, 'controller-uid', 'job-name'].includes(key))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** The desired state of a child; of a Secret the names of its values only. */
export function stateOf({ kind, metadata, type, spec, data, status }: Held): object {
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

/** Without fields that change by themselves; generated names stay. */
export const calm = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replace(UUID, 'UID').replace(TIME, 'TIME')) as T;

/**
 * Where a password or a code was generated again meanwhile: without the fields that follow from its value. The Jobs of
 * migrations are named by that.
 */
export function whateverSecrets(state: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(state).filter(([name]) => !/^Job .*-migrate-/.test(name));
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)).replace(DIGEST, 'DIGEST')) as Record<string, unknown>;
}

/** Of the two Jobs of a migration, whose names are digests, which. */
const nameOf = ({ kind, metadata }: Held): string =>
  [kind, metadata.annotations?.['foyer.media/phase'], metadata.name].filter(Boolean).join(' ');

/** By kind and name; without uids, times, generated values and fields that follow from them. */
export async function endState(kubectl: Kubectl, namespace: string): Promise<Record<string, unknown>> {
  const [ours, children] = await Promise.all([
    kubectl.list<Held>(OURS, namespace),
    kubectl.list<Held>(CHILDREN, namespace, MANAGED),
  ]);
  const entries = [...ours, ...children].map((held) => [nameOf(held), stateOf(held)]);
  const text = plain(JSON.stringify(Object.fromEntries(entries)), namespace);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Up to ten places where two states differ. */
export function differencesOf(is: unknown, was: unknown, at = ''): string[] {
  if (JSON.stringify(is) === JSON.stringify(was)) return [];
  const plainObjects = [is, was].every((value) => typeof value === 'object' && value !== null);
  if (!plainObjects) return [`${at}: is ${JSON.stringify(is)}, was ${JSON.stringify(was)}`.slice(0, 400)];
  const [one, other] = [is as Record<string, unknown>, was as Record<string, unknown>];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => differencesOf(one[name], other[name], `${at}/${name}`)).slice(0, 10);
}

/** Values of Secrets by name, to check whether they are ever generated again. */
export async function secretValues(kubectl: Kubectl, namespace: string): Promise<Record<string, string>> {
  const secrets = await kubectl.list<Held>('secrets', namespace, MANAGED);
  return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, JSON.stringify(data)]));
}
