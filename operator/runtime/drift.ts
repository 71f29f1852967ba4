// Compares an object with its desired state. Only desired fields count: defaults of the API server and fields of other
// managers (the replicas of an autoscaler, annotations of a mesh) are ignored.
import { amountOf } from './quantity.ts';

/** Fields below these contain quantities, which the API server normalizes. */
const AMOUNTS = new Set(['limits', 'requests', 'capacity', 'sizeLimit', 'storage', 'hard', 'divisor', 'averageValue']);
/** Keys by which the API server merges list entries; the first that applies is used. */
const MERGE_KEYS = ['uid', 'mountPath', 'devicePath', 'containerPort', 'port', 'name', 'ip', 'topologyKey'];

type Path = readonly string[];
type Plain = Record<string, unknown>;

/**
 * The first path at which `live` differs from `wanted`, such as `spec.template.spec.containers.0.image`; undefined if there
 * is none.
 */
export function driftOf(wanted: unknown, live: unknown, path: Path = []): string | undefined {
  if (isNothing(wanted)) return isNothing(live) ? undefined : path.join('.');
  if (Array.isArray(wanted)) return Array.isArray(live) ? driftOfList(wanted, live, path) : path.join('.');
  if (isPlain(wanted)) return isPlain(live) || live === undefined ? driftOfMembers(wanted, live, path) : path.join('.');
  return sameScalar(wanted, live, path) ? undefined : path.join('.');
}

/** The part of `live` that `wanted` names, to detect later changes. */
export function owned(wanted: unknown, live: unknown): unknown {
  if (Array.isArray(wanted)) return live;
  if (!isPlain(wanted) || !isPlain(live)) return live;
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, owned(wanted[key], live[key])]));
}

function driftOfMembers(wanted: Plain, live: Plain | undefined, path: Path): string | undefined {
  if (live === undefined && Object.keys(wanted).length === 0) return path.join('.');
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    const there = key === 'stringData' ? decoded(live?.data) : live?.[key];
    const drift = driftOf(value, there, [...path, key]);
    if (drift !== undefined) return drift;
  }
  return undefined;
}

function driftOfList(wanted: unknown[], live: unknown[], path: Path): string | undefined {
  const key = mergeKeyOf(wanted);
  if (key === undefined && wanted.length !== live.length) return path.join('.');
  for (const [index, entry] of wanted.entries()) {
    const there = key === undefined ? live[index] : live.find((other) => isPlain(other) && same(entry, other, key));
    if (there === undefined) return [...path, String(index)].join('.');
    const drift = driftOf(entry, there, [...path, String(index)]);
    if (drift !== undefined) return drift;
  }
  return undefined;
}

/** A Service may have the same port for TCP and for UDP. */
function same(wanted: unknown, live: Plain, key: string): boolean {
  const entry = wanted as Plain;
  const protocol = entry.protocol ?? 'TCP';
  return entry[key] === live[key] && (key !== 'port' || protocol === (live.protocol ?? 'TCP'));
}

/** The first key with a unique value in every entry; lists without one are compared in order. */
function mergeKeyOf(list: unknown[]): string | undefined {
  if (list.length === 0 || !list.every(isPlain)) return undefined;
  return MERGE_KEYS.find((key) => {
    const values = list.map((entry) => (entry as Plain)[key]);
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  });
}

function sameScalar(wanted: unknown, live: unknown, path: Path): boolean {
  if (wanted === live) return true;
  if (!path.some((step) => AMOUNTS.has(step))) return false;
  const amount = amountOf(wanted);
  return amount !== undefined && amount === amountOf(live);
}

/** The API server omits such values in responses. It keeps an empty object. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === '' || value === false || value === 0;
}

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function decoded(data: unknown): Plain | undefined {
  if (!isPlain(data)) return undefined;
  const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(String(text), 'base64').toString('utf8')]);
  return Object.fromEntries(texts);
}
