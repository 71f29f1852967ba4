// Stored resources move to another version of their definitions: no field is lost on the way there and back, and no
// webhook is needed. There is only v1alpha1 yet: v1 is played by the same schema.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { fromSchema } from './mutations/from-schema.ts';
import { changed, type Spec } from './mutations/mutation.ts';
import { randomFrom } from './mutations/random.ts';
import { type Cluster, controlPlane, UP_MS } from './support/cluster.ts';
import { library, mediaServer, plurals, type Resource, tunerDevice } from './support/specs.ts';
import { until } from './support/until.ts';

const SEED = Number(process.env.FOYER_SEED ?? 1);
const COUNTS = { MediaServer: 60, Library: 80, TunerDevice: 60 };
/** Changes of one resource over its smallest form. */
const CHANGES = 6;

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
}
interface Definition extends KubeObject {
  spec: { versions: Version[] };
  status: { storedVersions: string[] };
}

describe('definitions of the resources', function () {
  this.timeout(300_000);
  let cluster: Cluster;
  let namespace = '';
  const resources: Resource[] = [];

  const crdOf = (kind: string): Definition => {
    return parse(readFileSync(`crds/${plurals[kind]}.yaml`, 'utf8')) as Definition;
  };
  const nameOf = (kind: string): string => `${plurals[kind]}.foyer.media`;
  const KINDS = Object.keys(COUNTS) as (keyof typeof COUNTS)[];

  /** As generated, then with the generator's changes, as many as fit together. */
  function generated(): Resource[] {
    const random = randomFrom(SEED);
    const first = { MediaServer: mediaServer, Library: library, TunerDevice: tunerDevice };
    return KINDS.flatMap((kind) =>
      Array.from({ length: COUNTS[kind] }, (_, index) => {
        const resource = first[kind](`${kind.toLowerCase()}-${index}`);
        let spec: Spec = resource.spec;
        const changes = CHANGES;
        for (let count = 0; count < changes; count++) {
          const next = fromSchema(random, kind, spec).next();
          if (!next.done) spec = changed(spec, next.value.changes);
        }
        return { ...resource, metadata: { ...resource.metadata, namespace }, spec };
      }),
    );
  }

  /** All resources by kind and name, as a version returns them. */
  async function objectsOf(version: string): Promise<Record<string, unknown>> {
    const lists = await Promise.all(
      KINDS.map((kind) => cluster.kubectl.list<KubeObject>(`${plurals[kind]}.${version}.foyer.media`, namespace)),
    );
    return Object.fromEntries(
      lists.flat().map(({ kind, metadata, spec, status }) => [`${kind}/${metadata.name}`, { spec, status }]),
    );
  }

  /** Both versions with one schema; the last word names the stored one. */
  async function define(versions: Record<string, Partial<Version>>): Promise<void> {
    const definitions = KINDS.map((kind) => {
      const definition = crdOf(kind);
      const [one] = definition.spec.versions;
      const all = Object.entries(versions).map(([name, how]) => ({ ...one, name, ...how }));
      return { ...definition, spec: { ...definition.spec, versions: all } };
    });
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions });
    const words = ['apply', '--server-side', '--force-conflicts', '--field-manager=kubectl', '-f', '-'];
    await cluster.kubectl.run(words, list);
    const served = Object.entries(versions).filter(([, { served }]) => served);
    for (const [name] of served)
      await until(`${name} is served`, () => objectsOf(name).then((all) => Object.keys(all).length));
  }

  /** A storage migration: every object is written as it is, then the old version is forgotten. */
  async function migrate(to: string): Promise<void> {
    for (const kind of KINDS) {
      const plural = `${plurals[kind]}.${to}.foyer.media`;
      const items = await cluster.kubectl.list<KubeObject>(plural, namespace);
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await cluster.kubectl.run(['replace', '-f', '-'], list);
      await cluster.kubectl.patch({ kind: 'crd', name: nameOf(kind) }, { status: { storedVersions: [to] } }, true);
    }
  }

  before(async function () {
    this.timeout(UP_MS);
    cluster = await controlPlane();
    const names = KINDS.map((kind) => `crd/${nameOf(kind)}`);
    await cluster.kubectl.run(['delete', ...names, '--ignore-not-found', '--timeout=60s']);
    await cluster.kubectl.installKinds();
    namespace = await cluster.kubectl.namespace('versions');
    resources.push(...generated());
    await cluster.kubectl.apply(...resources);
  });
  after(async function () {
    this.timeout(120_000);
    await cluster.kubectl.deleteNamespace(namespace);
    const names = KINDS.map((kind) => `crd/${nameOf(kind)}`);
    await cluster.kubectl.run(['delete', ...names, '--ignore-not-found', '--timeout=60s']);
    await cluster.kubectl.installKinds();
    await cluster.kubectl.run(['api-resources']); // kubectl caches the versions for a while
  });

  it('move to another version and back with every stored object', async () => {
    const before = await objectsOf('v1alpha1');
    expect(Object.keys(before)).to.have.length(resources.length);
    await define({ v1alpha1: { served: true, storage: false }, v1: { served: true, storage: true } });
    expect(await objectsOf('v1'), 'as the new version returns them').to.deep.equal(before);
    expect(await objectsOf('v1alpha1'), 'as the old one goes on to').to.deep.equal(before);
    await migrate('v1');
    await define({ v1: { served: true, storage: true } });
    expect(await objectsOf('v1'), 'without the old one').to.deep.equal(before);
    await define({ v1alpha1: { served: true, storage: true }, v1: { served: true, storage: false } });
    await migrate('v1alpha1');
    await define({ v1alpha1: { served: true, storage: true } });
    expect(await objectsOf('v1alpha1'), 'and back').to.deep.equal(before);
    for (const kind of KINDS) {
      const { status } = (await cluster.kubectl.find<Definition>({ kind: 'crd', name: nameOf(kind) })) ?? crdOf(kind);
      expect(status.storedVersions).to.deep.equal(['v1alpha1']);
    }
  });

  it('are defaulted in the same way when a stored resource is applied again', async () => {
    const before = await objectsOf('v1alpha1');
    await cluster.kubectl.apply(...resources);
    expect(await objectsOf('v1alpha1')).to.deep.equal(before);
  });
});
