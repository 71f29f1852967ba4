import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { managed, specOf, world } from './specs.ts';
import type { World } from './support.ts';

const media = [
  { name: 'films', persistentVolumeClaim: { claimName: 'nas', subPath: 'films' } },
  { name: 'shows', persistentVolumeClaim: { claimName: 'shared' } },
];

const claim = (name: string, ...accessModes: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'media' },
  spec: { accessModes },
});

async function settled(spec: Record<string, unknown>, ...claims: KubeObject[]): Promise<World> {
  const here = world({ ...managed, ...spec });
  here.kube.put(...claims);
  await here.settle();
  return here;
}

interface Term {
  labelSelector: { matchLabels: object; matchExpressions: { key: string; values: string[] }[] };
  topologyKey: string;
}

function termsOf(here: World, kind: string, name: string): Term[] {
  const { template } = specOf(here, kind, name) as { template: { spec: { affinity?: object } } };
  const { podAffinity } = (template.spec.affinity ?? {}) as {
    podAffinity?: { requiredDuringSchedulingIgnoredDuringExecution: Term[] };
  };
  return podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

describe('pods that share a claim', () => {
  const all = ['home-api', 'home-workers', 'home-parser'];
  const shared = claim('shared', 'ReadWriteMany');

  it('go anywhere where every node may mount it', async () => {
    for (const mode of ['ReadWriteMany', 'ReadOnlyMany']) {
      const here = await settled({ media }, claim('nas', 'ReadWriteOnce', mode), shared);
      for (const name of all) expect(termsOf(here, 'Deployment', name), name).to.deep.equal([]);
      expect(here.message('MediaReady')).to.equal('Every volume exists');
      expect(here.names('PodDisruptionBudget')).to.deep.equal(['home-api']);
    }
  });

  it('are run on one node where one node at a time may mount it, and move together', async () => {
    const here = await settled({ media }, claim('nas', 'ReadWriteOnce'), shared);
    const [worker = ''] = here.names('Job').filter((name) => name.includes('transcode'));
    for (const [kind, name] of [
      ['Deployment', 'home-api'],
      ['Deployment', 'home-workers'],
      ['Job', worker],
    ] as const) {
      const [term, ...more] = termsOf(here, kind, name);
      expect(more, name).to.deep.equal([]);
      expect(term?.topologyKey).to.equal('kubernetes.io/hostname');
      expect(term?.labelSelector.matchLabels).to.include({ 'app.kubernetes.io/instance': 'home' });
      const values = term?.labelSelector.matchExpressions[0]?.values;
      expect(values, 'and no pod that could be elsewhere').to.include.members(['api', 'workers', 'transcode']);
      expect(values).to.not.include.members(['parser']).and.not.include('migrate');
    }
    expect(termsOf(here, 'Deployment', 'home-parser')).to.deep.equal([]);
    expect(here.message('MediaReady')).to.contain('nas: ReadWriteOnce').and.to.contain('run on one node');
    expect(here.names('PodDisruptionBudget'), 'it would block the drain of that node').to.deep.equal([]);
    expect(here.condition('Ready')).to.equal('True AllReady');
  });

  it('are those of the speech model alone where only its claim is so', async () => {
    const subtitles = { modelVolume: { persistentVolumeClaim: { claimName: 'models' } }, replicas: 2 };
    const here = await settled(
      { media, subtitles },
      claim('nas', 'ReadWriteMany'),
      shared,
      claim('models', 'ReadWriteOnce'),
    );
    const [term] = termsOf(here, 'Deployment', 'home-subtitles');
    expect(term?.labelSelector.matchExpressions[0]?.values).to.deep.equal(['subtitles']);
    expect(termsOf(here, 'Deployment', 'home-api')).to.deep.equal([]);
  });

  it('cannot be, where one pod alone may mount it: the condition names the change', async () => {
    const here = await settled({ media }, claim('nas', 'ReadWriteOncePod'), shared);
    expect(here.condition('MediaReady')).to.equal('False VolumeNotShared');
    expect(here.message('MediaReady')).to.contain('ReadWriteOncePod').and.to.contain('use a ReadWriteMany claim');
    expect(here.names('Deployment')).to.deep.equal([]);
  });
});
