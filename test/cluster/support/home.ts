// A household's server as the README installs it: manifests/install.yaml and manifests/samples/quickstart-cluster.yaml, in a namespace
// of its own, on a cluster whose pods run.
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { STORE_IMAGES } from '#operator/media-server/desired/images.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { MediaServerStatus } from '#operator/schemas/media-server.ts';
import { clientFor, type TestClient } from '#support/api.ts';
import { setUp, signIn } from '../../real/household.ts';
import { type Cluster, images, node } from './cluster.ts';
import type { Kubectl } from './kubectl.ts';
import type { Viewer } from './player.ts';
import { pod } from './pods.ts';
import { until } from './until.ts';

export const INSTALL = 'manifests/install.yaml';
export const SAMPLE = 'manifests/samples/quickstart-cluster.yaml';
/** Of the sample's apply until the server is Ready. */
export const READY_MS = 180_000;

const documents = (file: string): KubeObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS() as KubeObject);

/** The objects of a manifest in another namespace than its own. */
export function inNamespace(file: string, namespace: string): KubeObject[] {
  return documents(file).map((object) => {
    const text = JSON.stringify(object).replaceAll('"namespace":"foyer"', `"namespace":${JSON.stringify(namespace)}`);
    const moved = JSON.parse(withBuiltImages(text)) as KubeObject;
    if (moved.kind === 'Namespace') moved.metadata.name = namespace;
    return moved;
  });
}

/** The cluster of the tests reaches no registry: it has the images of hack/image. */
const BUILT = { postgres: 'foyer-postgres:18', redis: 'foyer-redis:7', minio: 'foyer-minio:2026.2.12' };

export const withBuiltImages = (text: string): string =>
  Object.entries(STORE_IMAGES).reduce((changed, [name, image]) => {
    return changed.replaceAll(image, BUILT[name as keyof typeof BUILT]);
  }, text);

export interface HomeOptions {
  /** Prefix of the namespace. */
  name: string;
  /** Members of the MediaServer's spec, over those of the sample. */
  spec?: Record<string, unknown>;
  /** Path inside the claim to the file that is put there. */
  films?: Record<string, string>;
  /** Objects in the namespace that the spec names in addition to those of the sample. */
  extras?: (namespace: string) => readonly object[];
}

/** A claim of media with files in it, put there by a pod as a person would. */
export async function fillClaim(kubectl: Kubectl, claim: KubeObject, films: Record<string, string>): Promise<void> {
  const { name, namespace = '' } = claim.metadata;
  const [image = ''] = await images('product');
  await kubectl.apply(claim);
  const filler = { kind: 'pod', name: `fill-${name}`, namespace };
  const idle = ['-e', 'setInterval(() => {}, 1000)'];
  await kubectl.apply(pod({ ...filler, image, args: idle, mounts: { '/media': name } }));
  await kubectl.wait(filler, 'condition=Ready', 60);
  for (const [path, file] of Object.entries(films)) {
    // Long ago, so that a scan takes it for complete.
    const text = `const fs = require('node:fs'); const to = process.argv[1]; fs.mkdirSync(require('node:path').dirname(to), { recursive: true });
      process.stdin.pipe(fs.createWriteStream(to)).on('finish', () => fs.utimesSync(to, 1.5e9, 1.5e9));`;
    const words = ['exec', '-i', filler.name, '-n', namespace, '--', 'node', '-e', text, `/media/${path}`];
    await kubectl.run(words, readFileSync(file));
  }
  await kubectl.run(['delete', 'pod', filler.name, '-n', namespace, '--wait=false']);
}

export class Home {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Signed in as the owner, once {@link own} was called. */
  headers: Record<string, string> = {};
  url = '';

  constructor(cluster: Cluster, namespace: string) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  get kubectl(): Kubectl {
    return this.cluster.kubectl;
  }

  get owner(): TestClient {
    return clientFor(this.url, this.headers);
  }

  named(kind: string, name: string): { kind: string; name: string; namespace: string } {
    return { kind, name, namespace: this.namespace };
  }

  async status(): Promise<MediaServerStatus> {
    const found = await this.kubectl.find<{ status?: MediaServerStatus }>(this.named('mediaserver', 'home'));
    return found?.status ?? {};
  }

  /** `STATUS REASON` of a condition. */
  async condition(type: string): Promise<string> {
    const found = (await this.status()).conditions?.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  /** Waits until the condition is that; throws all conditions when it never is. */
  async reaches(type: string, text: string, withinMs = READY_MS): Promise<void> {
    try {
      await until(text, async () => (await this.condition(type)) === text, withinMs);
    } catch {
      const all = (await this.status()).conditions?.map(
        (one) => `${one.type} ${one.status} ${one.reason} ${one.message}`,
      );
      throw new Error(`${type} is not ${text} in ${withinMs / 1000} s:\n${all?.join('\n')}`);
    }
  }

  change(spec: Record<string, unknown>): Promise<string> {
    return this.kubectl.patch(this.named('mediaserver', 'home'), { spec });
  }

  /** Pods of a component that are not on their way out. */
  async pods(component: string): Promise<KubeObject[]> {
    const selector = `app.kubernetes.io/instance=home,app.kubernetes.io/component=${component}`;
    const all = await this.kubectl.list<KubeObject>('pods', this.namespace, selector);
    return all.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  async secret(name: string, key: string): Promise<string> {
    const found = await this.kubectl.find<{ data: Record<string, string> }>(this.named('secret', name));
    return Buffer.from(found?.data[key] ?? '', 'base64').toString();
  }

  /** Becomes the owner by the code of the claim Secret, through the Service. */
  async own(): Promise<void> {
    const words = ['get', 'service', 'home-api', '-n', this.namespace, '-o', 'jsonpath={.spec.clusterIP}'];
    this.url = `http://${await this.kubectl.run(words)}:8080`;
    this.headers = await setUp(this.url, await this.secret('home-claim', 'code'));
  }

  /** Films that the owner sees, once there are so many. */
  async films(count: number): Promise<{ id: string; title: string }[]> {
    return until(`${count} films`, async () => {
      const libraries = await this.owner.listLibraries();
      const [library] = libraries.body;
      const listed = await this.owner.listLibraryItems({ params: { id: library?.id ?? '' }, query: { limit: 100 } });
      return listed.body.items.length === count && listed.body.items;
    });
  }

  /** The owner on another device. */
  async viewer(device: string): Promise<Viewer> {
    return { url: this.url, headers: await signIn(this.url, `cluster-${device}`) };
  }

  /** For a test that failed: the pods, the conditions and the last output. */
  async printState(): Promise<void> {
    const here = ['-n', this.namespace];
    const words = [
      ['get', 'pods,jobs', '-o', 'wide'],
      [
        'get',
        'mediaserver',
        'home',
        '-o',
        'jsonpath={range .status.conditions[*]}{.type} {.status} {.reason} {.message}{"\\n"}{end}',
      ],
      ['logs', '-l', 'app.kubernetes.io/name in (foyer, foyer-operator)', '--tail=15', '--prefix'],
    ];
    for (const command of words) process.stderr.write(`${(await this.kubectl.attempt([...command, ...here])).out}\n`);
  }

  async remove(): Promise<void> {
    await this.kubectl.attempt([
      'delete',
      'mediaserver,library,tunerdevice',
      '--all',
      '-n',
      this.namespace,
      '--timeout=60s',
    ]);
    await this.kubectl.deleteNamespace(this.namespace);
  }
}

/** Installs the operator and a server of the sample, with films in its claim, and owns it. */
export async function startHome({ name, spec = {}, films = {}, extras = () => [] }: HomeOptions): Promise<Home> {
  const cluster = await node();
  await images('product', 'postgres', 'redis', 'minio');
  const home = new Home(cluster, await cluster.kubectl.namespace(name));
  const [claim, server, library] = inNamespace(SAMPLE, home.namespace);
  if (!claim || !server || !library) throw new Error(`${SAMPLE} has no longer a claim, a server and a library`);
  await cluster.kubectl.installKinds();
  const install = inNamespace(INSTALL, home.namespace).filter(({ kind }) => kind !== 'CustomResourceDefinition');
  await cluster.kubectl.apply(...install);
  await fillClaim(cluster.kubectl, claim, films);
  const more = extras(home.namespace);
  if (more.length > 0) await cluster.kubectl.apply(...more);
  await cluster.kubectl.apply({ ...server, spec: { ...(server.spec as object), ...spec } }, library);
  await home.reaches('Ready', 'True AllReady');
  await home.own();
  return home;
}
