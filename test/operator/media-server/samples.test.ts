// The samples as a newcomer applies them: all referenced objects exist, and their namespace admits their pods.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { violations } from './pod-security.ts';
import { MemoryKube, mediaServer, secret, World } from './support.ts';

type Plain = Record<string, unknown>;

const FOLDER = 'manifests/samples';
const documents = (files: readonly string[]): KubeObject[] =>
  files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => document.toJS() as KubeObject),
  );

const isServer = ({ kind }: KubeObject): boolean => kind === 'MediaServer';

/** For one machine: they name its folders, and no namespace. */
const LOCAL = ['bucket-local.yaml', 'home.yaml', 'speech-local.yaml', 'tuner-local.yaml'];

/** One by one, and the GitOps tree as a whole; all are for the namespace of install.yaml. */
const server = 'gitops/server';
const samples: Record<string, string[]> = {
  ...Object.fromEntries(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith('.yaml') && !LOCAL.includes(name) && documents([name]).some(isServer))
      .map((name) => [name, [name]]),
  ),
  [server]: readdirSync(join(FOLDER, server))
    .filter((name) => name !== 'kustomization.yaml')
    .map((name) => join(server, name)),
};

const placed = (object: KubeObject): KubeObject => {
  const { stringData } = object as { stringData?: Record<string, string> };
  if (stringData) return secret(object.metadata.name, stringData);
  return { ...object, metadata: { ...object.metadata, namespace: 'media' } };
};

describe('samples', () => {
  for (const [name, files] of Object.entries(samples))
    it(`have all that they name, and pods that Pod Security restricted lets be made: ${name}`, async () => {
      const all = documents(files);
      const given = all.find(isServer);
      const others = all.filter((object) => object !== given && object.kind !== 'Library').map(placed);
      const world = new World(mediaServer(given?.spec as Plain), new MemoryKube().put(...others));
      await world.settle();
      expect(world.condition('Ready')).to.equal('True AllReady');
      expect(world.condition('Stalled')).to.equal('absent');
      const pods = [...world.kube.objects.values()].flatMap(({ kind, metadata, spec }) => {
        const { template } = (spec ?? {}) as { template?: { spec: Plain } };
        return template ? [{ name: `${kind} ${metadata.name}`, pod: template.spec }] : [];
      });
      expect(pods.length).to.be.greaterThan(3);
      for (const { name: of, pod } of pods) expect(violations(pod), of).to.deep.equal([]);
    });

  it('have pods of their own that Pod Security restricted lets be made, and that find their claim', () => {
    const all = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
    const objects = documents(all);
    const pods = objects.filter(({ kind }) => kind === 'Pod');
    expect(pods.map(({ metadata }) => metadata.name)).to.deep.equal(['copy-films', 'copy-models']);
    const claims = objects.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ metadata }) => metadata.name);
    for (const { spec } of pods) {
      expect(violations(spec as Plain)).to.deep.equal([]);
      const { volumes } = spec as { volumes: { persistentVolumeClaim: { claimName: string } }[] };
      for (const volume of volumes) expect(claims).to.include(volume.persistentVolumeClaim.claimName);
    }
  });
});
