// Changes of single fields, generated from the schemas: every optional part comes and goes, every value takes others
// that its schema allows. A change that the schema as a whole does not allow is dropped; those belong to the bad specs
// (test/cluster/bad-specs.slow.test.ts).
import { kinds } from '#operator/schemas/kinds.ts';
import { type Kind, structural } from '#operator/schemas/structural.ts';
import { at, type Change, changed, type Mutation, type Place, type Spec } from './mutation.ts';
import { pick } from './random.ts';

interface Node {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  pattern?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, Node>;
  additionalProperties?: Node;
  items?: Node;
  'x-kubernetes-int-or-string'?: true;
}

interface Leaf {
  path: Place;
  node: Node;
}

/** Possible strings, by the last word of their place; any other string there must be reported as missing. */
const TEXTS: [RegExp, readonly string[]][] = [
  [/(schedule|refresh)$/, ['15 3 * * *', '0 */2 * * 1', '59 23 31 12 6']],
  [/(secretName|claimName)$/, ['films', 'recordings']],
  [/secretRef.*\.name$/i, ['spare']],
  [/secretRef.*\.key$/i, ['uri', 'key']],
  [/configMapRef\.name$/, ['spare']],
  [/(language)$/i, ['de', 'fr-CA', 'en']],
  [/(country)$/i, ['DE', 'FR']],
  [/media$/, ['recordings', 'films']],
  [/path$/i, ['/', '/a', '/a/b']],
  [/subPath$/, ['a', 'a/b']],
  [/(url|issuer|endpoint|publicUrl|baseUrl)$/i, ['https://one.example', 'http://two.example:8096']],
  [/(version)$/, ['1.1.0', '2.0.0-rc.1']],
  [/issuerRef\.kind$/, ['Issuer', 'ClusterIssuer']],
  [/registry$/, ['mirror.example:5000']],
  [/image$/i, ['mirror.example/foyer']],
  [/deviceId$/, ['1068AAAA', '1060bbbb']],
  [/address$/, ['192.168.1.9', 'tuner.lan']],
  [/(include|exclude)\.\d+$/, ['News*', '1?', '*HD']],
  [/storageClassName$/, ['hollow']],
  [/host$/, ['films.example', 'other.example']],
  [/timeZone$/, ['Europe/Berlin', 'UTC']],
  [/^agents\.\d+$/, ['nfo', 'files', 'wikidata']],
  [/topologyKey$/, ['topology.kubernetes.io/zone']],
];
const SIZES = ['2Gi', '1500M', 3221225472];
const NETWORKS = ['10.1.0.0/16', '192.168.7.0/24', 'fd00::/8'];
/** Each is a pod, or an object of the cluster. */
const FEW = /(replicas|warm|max|min|instances|count)$/;

/** Parts that the generator leaves to the written ones: references into the cluster, and immutable fields. */
const LEFT_OUT =
  /^(serverRef|type$|postgres|redis|objects|media(\.|$)|ownerSecretRef|email|oidc|branding|declared|plus|backup|plugins|gateway|source$)|secretRef|claims|imagePullSecrets|priorityClassName|runtimeClassName|accelerator|modelVolume|persistentVolumeClaim|topologySpread|scaleToZero|parser|resources$|limits|requests|^recordings|^suspend|access\.users|^nodeSelector|^hostNetwork/i;

const words = (path: Place): string => path.join('.');

/** Every place of a schema that is a value, or a part that may be absent. */
function leaves(node: Node, path: Place = []): Leaf[] {
  if (path.length > 0 && LEFT_OUT.test(words(path))) return [];
  const inner = Object.entries(node.properties ?? {}).flatMap(([name, child]) => leaves(child, [...path, name]));
  return node.properties && path.length === 0 ? inner : [{ path, node }, ...inner];
}

function text(random: () => number, node: Node, path: Place): string {
  const known = TEXTS.find(([where]) => where.test(words(path)));
  if (known) return pick(random, known[1]);
  if (node.pattern?.startsWith('^[0-9A-Fa-f:.]+')) return pick(random, NETWORKS);
  const word = `${pick(random, ['alpha', 'beta', 'gamma'])}${Math.floor(random() * 1e6)}`;
  return word.padEnd(node.minLength ?? 0, 'x').slice(0, node.maxLength ?? 100);
}

function integer(random: () => number, { minimum = 0, maximum = 1000 }: Node, path: Place): number {
  const most = FEW.test(words(path)) ? Math.min(maximum, 4) : Math.min(maximum, 2 ** 40);
  const least = /^api\.replicas$/.test(words(path)) ? 1 : minimum; // none at all is one of the written misoperations
  const between = least + Math.floor(random() * (most - least + 1));
  return pick(random, [least, most, between]);
}

/** A value that the schema allows; of objects those members that must be there, and some others. */
function valueFor(random: () => number, node: Node, path: Place): unknown {
  if (node.enum) return pick(random, node.enum);
  if (node['x-kubernetes-int-or-string']) return pick(random, SIZES);
  switch (node.type ?? 'string') {
    case 'boolean':
      return random() < 0.5;
    case 'integer':
      return integer(random, node, path);
    case 'number':
      return node.minimum ?? 0.5;
    case 'array':
      return Array.from({ length: Math.max(node.minItems ?? 0, Math.floor(random() * 3)) }, (_, index) =>
        valueFor(random, node.items ?? {}, [...path, index]),
      );
    case 'object':
      return objectFor(random, node, path);
    default:
      return text(random, node, path);
  }
}

function objectFor(random: () => number, { properties, required = [], additionalProperties }: Node, path: Place): Spec {
  if (!properties) {
    const value = additionalProperties && valueFor(random, additionalProperties, [...path, 'any']);
    return value === undefined ? {} : { [pick(random, ['one', 'two'])]: value };
  }
  const wanted = Object.entries(properties).filter(([name]) => {
    return required.includes(name) || (random() < 0.4 && !LEFT_OUT.test(words([...path, name])));
  });
  return Object.fromEntries(wanted.map(([name, child]) => [name, valueFor(random, child, [...path, name])]));
}

/** Half of the time a part that is there goes, or a switch is turned. */
function changeOf(random: () => number, { path, node }: Leaf, spec: Spec): Change {
  const there = at(spec, path);
  if (there !== undefined && random() < 0.4) return { at: path, value: undefined };
  if (node.type === 'boolean') return { at: path, value: !(there ?? node.default ?? false) };
  return { at: path, value: valueFor(random, node, path) };
}

/** The defaults filled in: the effect of the change. */
const meaning = (kind: Kind, spec: Spec): string | undefined => {
  const parsed = kind.spec.safeParse(spec);
  return parsed.success ? JSON.stringify(parsed.data) : undefined;
};

/** Endless; each changes the meaning of `spec`, and is allowed by its schema. */
export function* fromSchema(random: () => number, of: Kind['kind'], spec: Spec): Generator<Mutation> {
  const kind = kinds.find((one) => one.kind === of);
  if (!kind) throw new Error(`no kind ${of}`);
  const all = leaves(structural(kind.spec) as Node);
  // Settings are many and alike: a part of them is enough.
  const settings = all.filter(({ path }) => path[0] === 'settings' && of === 'MediaServer');
  const others = all.filter((leaf) => !settings.includes(leaf));
  const before = meaning(kind, spec);
  while (true) {
    const from = settings.length > 0 && random() < 0.15 ? settings : others;
    const change = changeOf(random, pick(random, from), spec);
    const after = meaning(kind, changed(spec, [change]));
    if (after === undefined || after === before) continue;
    const name = `${words(change.at)} = ${JSON.stringify(change.value)}`;
    yield { kind: of, name, changes: [change], misoperation: false, expected: {} };
  }
}
