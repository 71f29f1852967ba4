import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { managed, running, specs, world } from './specs.ts';
import type { World } from './support.ts';

const labels = (component: string) => ({
  'app.kubernetes.io/name': 'foyer',
  'app.kubernetes.io/instance': 'home',
  'app.kubernetes.io/component': component,
});

function pod(here: World, component: string, status: object): KubeObject {
  const name = component === 'postgres' ? 'home-postgres-0' : `home-${component}-1`;
  const metadata = { name, namespace: 'media', uid: `uid of ${name}`, labels: labels(component) };
  const made = { ...metadata, creationTimestamp: here.now.toISOString() };
  return { apiVersion: 'v1', kind: 'Pod', metadata: made, spec: { containers: [] }, status };
}

const waiting = (reason: string, message?: string) => ({
  containerStatuses: [{ image: 'mirror/foyer:9', restartCount: 0, state: { waiting: { reason, message } } }],
});

const warning = (reason: string, message: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `${name}.1`, namespace: 'media' },
  type: 'Warning',
  reason,
  message,
  involvedObject: { kind: 'Pod', namespace: 'media', name, uid: `uid of ${name}` },
});

/** As the Deployment controller writes it after progressDeadlineSeconds. */
function exceed(here: World, name: string): void {
  const object = here.kube.get('Deployment', 'media', name) as KubeObject;
  const message = `ReplicaSet "${name}-1" has timed out progressing.`;
  const condition = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message };
  here.kube.put({ ...object, status: { ...(object.status as object), updatedReplicas: 1, conditions: [condition] } });
}

const warnings = (here: World): string[] =>
  here.kube.events.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason} ${message}`);

describe('a MediaServer that starts', () => {
  for (const [name, spec] of Object.entries({ managed, external: specs.external ?? {}, media: specs.media ?? {} }))
    it(`warns of nothing, and is never degraded: ${name}`, async () => {
      const here = world(spec);
      const degraded = new Set<string>();
      const pass = async (stuck: string[]): Promise<void> => {
        here.kube.play(here.now, { stuck });
        await here.pass();
        degraded.add(here.condition('Degraded'));
      };
      await here.pass();
      here.kube.put(pod(here, 'postgres', { conditions: [unplacedSince(here)] }));
      for (const stuck of [['postgres', 'objects', 'redis'], ['objects'], ['migrate'], ['api', 'workers'], ['workers']])
        for (let turn = 0; turn < 3; turn++) await pass(stuck);
      here.kube.drop('Pod', 'home-postgres-0');
      await here.settle();
      expect([...degraded].filter((text) => text.startsWith('True'))).to.deep.equal([]);
      expect(warnings(here).filter((text) => !text.includes('MediaReady'))).to.deep.equal([]);
      expect(here.condition('Ready')).to.equal('True AllReady');
    });

  const unplacedSince = (here: World) => ({
    type: 'PodScheduled',
    status: 'False',
    message: 'pod has unbound immediate PersistentVolumeClaims',
    lastTransitionTime: here.now.toISOString(),
  });

  it('is degraded once a store takes longer than it may', async () => {
    const here = world();
    for (let turn = 0; turn < 3; turn++) {
      await here.pass();
      here.kube.play(here.now, { stuck: ['postgres'] });
    }
    expect(here.condition('DatabaseReady')).to.equal('False Starting');
    expect(here.condition('Degraded')).to.match(/^False/);
    here.later(5 * 60_000);
    await here.pass();
    expect(here.condition('DatabaseReady')).to.equal('False DatabaseUnreachable');
    expect(here.condition('Degraded')).to.equal('True DatabaseUnreachable');
    expect(warnings(here).join()).to.contain('DatabaseUnreachable');
  });

  it('gives every condition a reason, at every moment', async () => {
    const here = world();
    for (let turn = 0; turn < 12; turn++) {
      await here.pass();
      here.kube.play(here.now, { stuck: turn < 4 ? ['postgres'] : turn < 8 ? ['home-api'] : [] });
      for (const { type, message } of here.status.conditions ?? []) expect(message, type).to.match(/\S/);
    }
  });
});

describe('pods that do not become ready', () => {
  it('are no start any more once their Deployment is unavailable for long, however young each is', async () => {
    const here = await running();
    const unavailable = here.kube.get('Deployment', 'media', 'home-api') as KubeObject;
    const condition = { type: 'Available', status: 'False', lastTransitionTime: here.now.toISOString() };
    here.kube.put({
      ...unavailable,
      status: { ...(unavailable.status as object), readyReplicas: 0, conditions: [condition] },
    });
    const replace = () => here.kube.put(pod(here, 'api', {}));
    replace();
    await here.pass();
    expect(here.condition('Ready')).to.equal('False Starting');
    here.later(5 * 60_000);
    replace();
    await here.pass();
    expect(here.condition('Ready')).to.equal('False Unavailable');
    expect(here.condition('Degraded')).to.equal('True Unavailable');
  });

  const failedMount = (here: World): KubeObject => ({
    ...warning('FailedMount', 'Unable to attach or mount volumes', 'home-workers-1'),
    lastTimestamp: here.now.toISOString(),
  });

  for (const state of [{ running: {} }, { terminated: { exitCode: 0 } }])
    it(`have their volumes once an init container is ${Object.keys(state)[0]}`, async () => {
      const here = await running();
      const initContainerStatuses = [{ restartCount: 0, state }];
      here.kube.put(pod(here, 'workers', { ...waiting('PodInitializing'), initContainerStatuses }));
      here.later(60_000);
      here.kube.put(failedMount(here));
      await here.pass();
      expect(here.condition('Degraded')).to.equal('False AllReady');
    });

  it('are judged by warnings that kubelet still repeats', async () => {
    const here = await running();
    here.kube.put(pod(here, 'workers', waiting('ContainerCreating')));
    here.later(60_000);
    here.kube.put(failedMount(here));
    here.later(5 * 60_000);
    await here.pass();
    expect(here.condition('Degraded')).to.equal('True VolumeNotMounted');
    here.later(60_000);
    await here.pass();
    expect(here.condition('Degraded')).to.equal('False AllReady');
  });
});

describe('a planned change of a MediaServer', () => {
  it('is not degraded: a migration, a roll-out, another password of a store', async () => {
    const here = await running();
    const degraded = new Set<string>();
    here.change({ version: '2.0.0' });
    for (const stuck of ['migrate', 'migrate', 'home-api', 'home-api', 'home-workers', 'none']) {
      await here.pass();
      degraded.add(here.condition('Degraded'));
      here.kube.play(here.now, { stuck: [stuck] });
    }
    await here.settle();
    expect([...degraded].filter((text) => text.startsWith('True'))).to.deep.equal([]);
    expect([...degraded]).to.include('False MigrationPending');
    expect(warnings(here)).to.deep.equal([]);
  });

  it('of the version is reported once when it begins and once when every pod has it', async () => {
    const here = await running();
    here.kube.events.length = 0;
    here.change({ version: '2.0.0' });
    await here.pass();
    await here.pass();
    expect(here.status.upgradingTo).to.equal('2.0.0');
    expect(here.status.phase).to.equal('RollingOut: MigrationPending');
    await here.settle();
    expect(here.status.upgradingTo).to.equal(undefined);
    expect(here.status.phase).to.equal('Running');
    const upgrades = here.kube.events.filter(({ reason }) => reason.startsWith('Upgrade'));
    expect(upgrades.map(({ type, reason }) => `${type} ${reason}`)).to.deep.equal([
      'Normal UpgradeStarted',
      'Normal UpgradeCompleted',
    ]);
    expect(upgrades[0]?.message).to.contain('2.0.0');
  });

  it('that is reverted is reported as that', async () => {
    const here = await running();
    here.change({ version: '2.0.0' });
    await here.pass();
    here.change({ version: '1.0.0' });
    await here.settle();
    const upgrades = here.kube.events.map(({ reason }) => reason).filter((reason) => reason.startsWith('Upgrade'));
    expect(upgrades).to.deep.equal(['UpgradeStarted', 'UpgradeGivenUp']);
  });
});

describe('a roll-out that stands still', () => {
  it('is reported with the fault of its pod, in Degraded and Stalled, while the former pods serve', async () => {
    const here = await running();
    here.change({ workers: { resources: { requests: { cpu: '77m' } } } });
    await here.settle({ stuck: ['home-workers'] });
    here.kube.put(pod(here, 'workers', waiting('ContainerCreating')));
    const words =
      'Unable to attach or mount volumes: unmounted volumes=[media-shows]: timed out waiting for the condition';
    here.kube.put(warning('FailedMount', words, 'home-workers-1'));
    await here.pass();
    expect(here.condition('Degraded'), 'it has just come').to.equal('False RollingOut');
    here.later(60_000);
    await here.pass();
    expect(here.condition('Degraded')).to.equal('True VolumeNotMounted');
    expect(here.message('Degraded')).to.equal(`pod home-workers-1 cannot start: ${words}`);
    exceed(here, 'home-workers');
    await here.pass();
    expect(here.condition('Degraded')).to.equal('True ProgressDeadlineExceeded');
    expect(here.condition('Stalled')).to.equal('True ProgressDeadlineExceeded');
    expect(here.condition('Progressing')).to.equal('False ProgressDeadlineExceeded');
    expect(here.message('Degraded')).to.contain('Deployment home-workers makes no progress').and.to.contain(words);
    expect(here.condition('Ready')).to.equal('True AllReady');
    expect(here.status.phase).to.equal('Stalled: ProgressDeadlineExceeded');
    expect(warnings(here).join()).to.contain('ProgressDeadlineExceeded');
  });

  it('is reported also where no pod gives a reason', async () => {
    const here = await running();
    exceed(here, 'home-api');
    await here.pass();
    expect(here.message('Degraded')).to.contain('has timed out progressing').and.to.contain('kubectl describe');
  });

  for (const [component, fields] of Object.entries({
    api: 'spec.image and spec.version name it, spec.registry its registry',
    postgres: 'spec.postgres.managed.image names it',
    redis: 'spec.redis.managed.image names it',
    objects: 'spec.objects.managed.image names it',
  }))
    it(`names the image that cannot be pulled, and the fields that govern it: ${component}`, async () => {
      const here = await running();
      here.kube.put(pod(here, component, waiting('ImagePullBackOff', 'Back-off pulling image "mirror/foyer:9"')));
      await here.pass();
      expect(here.condition('Degraded')).to.equal('True ImageUnavailable');
      const message = here.message('Degraded');
      expect(message).to.contain('cannot pull image mirror/foyer:9: Back-off').and.to.contain(fields);
      expect(message).to.contain('spec.imagePullSecrets');
    });

  it('is reported for init containers, too', async () => {
    const here = await running();
    const { containerStatuses: initContainerStatuses } = waiting('CrashLoopBackOff');
    here.kube.put(pod(here, 'postgres', { initContainerStatuses }));
    await here.pass();
    expect(here.condition('Degraded')).to.equal('True CrashLooping');
  });
});
