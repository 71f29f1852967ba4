// A support bundle: the data needed to diagnose a problem, without secrets.
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { stringify } from 'yaml';
import { referencesIn } from '../references.ts';
import type { KubeObject } from '../runtime/kube.ts';
import { type Cluster, Refused } from './cluster.ts';
import { diagnose, printFindings } from './doctor.ts';
import type { Snapshot } from './snapshot.ts';

/** Content by name in the archive. */
export type Files = Map<string, string>;

const LOG_LINES = 5000;
const SHORTEST_SECRET = 6;
/** This file is in the bundle when Secrets could be read, so that their values were redacted. */
export const SECRETS = 'secrets.yaml';
export const UNREDACTED =
  'Secrets could not be read, so their values in logs and messages are not redacted. Check the bundle before you share it.';

/** Values of the readable Secrets, in all encodings in which they may appear. */
export function secretValues(secrets: readonly KubeObject[]): string[] {
  const values = secrets.flatMap(({ data }) => Object.values((data ?? {}) as Record<string, string>));
  const spelt = values.flatMap((value) => {
    const text = Buffer.from(value, 'base64').toString('utf8').trim();
    const lines = text.split(/\s+|["{}[\],]/).filter((line) => line.length >= SHORTEST_SECRET * 2);
    return [value, ...[text, ...passwordsIn(text)].flatMap(spellings), ...lines];
  });
  const long = spelt.filter((value) => value.length >= SHORTEST_SECRET);
  return [...new Set(long)].sort((a, b) => b.length - a.length);
}

/** As is, URL-encoded, and inside JSON. */
const spellings = (text: string): string[] => [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)];

/** The passwords of a URL, decoded and as written: drivers log them separately. */
function passwordsIn(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  const credentials = [...searchParams].filter(([name]) => CREDENTIAL.test(name)).map(([, value]) => value);
  return [password, decoded(password), ...credentials];
}

/** URL parameters that are secret by themselves; `sslmode=require` is not. */
const CREDENTIAL = /pass|token|key|secret|auth|user|sig/i;

/** Secrets inside URLs of a spec: passwords, and credentials that providers issue to a client. */
export function addressSecrets(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(addressSecrets);
  if (typeof value !== 'string' || !URL.canParse(value)) return [];
  const { search, username } = new URL(value);
  const spelt = [...passwordsIn(value), search, ...(username ? [decoded(username)] : [])].flatMap(spellings);
  return spelt.filter((text) => text.length >= SHORTEST_SECRET);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const redact = (text: string, values: readonly string[]): string =>
  values.reduce((clean, value) => clean.replaceAll(value, '[secret]'), text);

/** Only the keys of a Secret and the length of their values. */
function withoutData(secret: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, data = {} } = secret as KubeObject & { data?: Record<string, string> };
  const keys = Object.entries(data).map(([key, value]) => [key, `${Buffer.byteLength(value, 'base64')} bytes`]);
  const { annotations: _, ...rest } = metadata;
  return { apiVersion, kind, metadata: rest, keys: Object.fromEntries(keys) };
}

/** Without folded lines, which would split a secret. */
const yaml = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(once(object), { aliasDuplicateObjects: false, lineWidth: 0 })).join('---\n');

/** Without the annotation of `kubectl apply`, which repeats the object in another encoding. */
function once(object: KubeObject): KubeObject {
  const { [APPLIED]: _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
}

const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** All values to redact, the longest first. */
function valuesOf(secrets: readonly KubeObject[], { servers, libraries, tuners }: Snapshot): string[] {
  const inSpecs = [...servers, ...libraries, ...tuners].flatMap(({ spec }) => addressSecrets(spec));
  return [...secretValues(secrets), ...inSpecs].sort((one, other) => other.length - one.length);
}

export async function gather(cluster: Cluster, observed: Snapshot): Promise<Files> {
  const own = { 'app.kubernetes.io/name': 'foyer' };
  const secrets = await cluster.list('v1', 'Secret', own);
  const values = valuesOf([...(secrets ?? []), ...(await namedSecrets(cluster, observed))], observed);
  const files: Files = new Map();
  const put = (name: string, text: string): void => void files.set(name, redact(text, values));
  const { servers, libraries, tuners, pods, claims, events, operators = [], operatorPods } = observed;
  put('doctor.txt', printFindings(diagnose(observed)));
  put('resources.yaml', yaml([...servers, ...libraries, ...tuners]));
  put('pods.yaml', yaml([...operators, ...operatorPods, ...pods, ...claims]));
  put('events.yaml', yaml(events));
  if (secrets) put(SECRETS, yaml(secrets.map(withoutData)));
  for (const [apiVersion, kind] of OBJECTS)
    put(`${kind}.yaml`, yaml((await cluster.list(apiVersion, kind, own)) ?? []));
  for (const { pod, container, ...at } of [...operatorPods, ...pods].flatMap(containersOf)) {
    for (const previous of [false, true]) {
      const text = await cluster.log({ pod, container, ...at, previous, tailLines: LOG_LINES });
      if (text) put(`logs/${pod}/${container}${previous ? '.previous' : ''}.log`, text);
    }
  }
  put('about.txt', aboutOf(observed, cluster.denied, secrets !== undefined));
  return files;
}

function aboutOf({ clusterVersion, namespace }: Snapshot, denied: Iterable<string>, isClean: boolean): string {
  const lacks = [...denied].map((what) => `you may not ${what}\n`).join('');
  const taken = `cluster ${clusterVersion}\nnamespace ${namespace}\ntaken ${new Date().toISOString()}\n`;
  return `${taken}${lacks}${isClean ? '' : `${UNREDACTED}\n`}`;
}

const OBJECTS = [
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'StatefulSet'],
  ['batch/v1', 'Job'],
  ['v1', 'Service'],
  ['networking.k8s.io/v1', 'Ingress'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
] as const;

/** Secrets that users created and resources reference: logs may contain their values. */
async function namedSecrets(cluster: Cluster, { servers, libraries, tuners }: Snapshot): Promise<KubeObject[]> {
  const references = [...servers, ...libraries, ...tuners].flatMap(({ spec }) => referencesIn(spec, ['spec']));
  const names = new Set(references.filter(({ of }) => of === 'Secret').map(({ name }) => name));
  const found = await Promise.all([...names].map((name) => cluster.secret(name)));
  return found.filter((secret) => secret !== undefined);
}

export function containersOf({ metadata, spec }: KubeObject): { pod: string; container: string; namespace?: string }[] {
  const { containers = [], initContainers = [] } = spec as Record<string, { name: string }[]>;
  const at = metadata.namespace ? { namespace: metadata.namespace } : {};
  return [...initContainers, ...containers].map(({ name }) => ({ pod: metadata.name, container: name, ...at }));
}

/** Readable by its owner only. Throws Refused where the path cannot be written. */
export async function writeBundle(files: Files, path: string): Promise<void> {
  const file = await open(path, 'w', 0o600).catch((error: Error) => {
    throw new Refused(`the bundle cannot be written: ${error.message}`);
  });
  const archive = pack();
  for (const [name, text] of files) archive.entry({ name: `support-bundle/${name}` }, text);
  archive.finalize();
  await pipeline(archive, createGzip(), file.createWriteStream());
}
