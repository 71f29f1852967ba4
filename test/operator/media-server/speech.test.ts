// The speech workers of a server: how many there are, on which device, and what the condition says.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { type NamedReport, speechReplicas } from '#operator/speech/reports.ts';
import { IdleClock, querySpeechWorker, speechWaiting } from '#operator/speech/worker.ts';
import { managed, specOf, world } from './specs.ts';
import type { World } from './support.ts';

type Plain = Record<string, unknown>;

const GPU = 'nvidia.com/gpu';
const accelerator = { resourceName: GPU, kind: 'nvenc' };
const DEPLOYMENT = 'home-subtitles';

const ready = { model: 'base', device: 'cpu', state: 'ready', reason: '', message: '', fellBack: false, waiting: 0 };
const unavailable = (reason: string, message = reason) => ({
  ...ready,
  device: null,
  state: 'unavailable',
  reason,
  message,
});

interface Template {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: { image: string; env: { name: string; value?: string }[]; resources: { limits: Plain } }[];
  } & Plain;
}
const templateOf = (here: World): Template => specOf(here, 'Deployment', DEPLOYMENT).template as Template;
const limitsOf = (here: World): Plain => templateOf(here).spec.containers[0]?.resources.limits ?? {};
const deviceOf = (here: World) =>
  templateOf(here).spec.containers[0]?.env.find(({ name }) => name === 'FOYER_SUBTITLES_DEVICE')?.value;
const replicas = (here: World) => specOf(here, 'Deployment', DEPLOYMENT).replicas;

/** A pod of the Deployment as it is now. */
function putPod(here: World, name: string, status: Plain): void {
  const { metadata, spec } = templateOf(here);
  const { labels } = metadata;
  const made = { name, namespace: 'media', uid: name, labels, creationTimestamp: here.now.toISOString() };
  here.kube.put({ apiVersion: 'v1', kind: 'Pod', metadata: made, spec, status } as KubeObject);
}
const up = { phase: 'Running', podIP: '10.0.0.7' };
const unplaced = (at: Date) => ({
  phase: 'Pending',
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: `0/1 nodes have ${GPU}`,
      lastTransitionTime: at.toISOString(),
    },
  ],
});

/** At rest, with a worker that answers so. */
async function withWorker(subtitles: Plain, answer: Plain, status: Plain = up): Promise<World> {
  const here = world({ ...managed, subtitles });
  await here.settle();
  here.querySpeech = await answering(answer);
  putPod(here, 'speech-1', status);
  await here.settle();
  return here;
}

const servers: Server[] = [];

/** A small program that answers GET /status as a speech worker does. */
async function answering(body: Plain): Promise<World['querySpeech']> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/status' ? 200 : 404).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  return () => querySpeechWorker(`http://127.0.0.1:${port}`);
}

describe('the speech workers of a server', () => {
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('are none while nothing waits, one as soon as a request does, and none again after idleSeconds', async () => {
    const here = world({ ...managed, subtitles: { scaleToZero: true, idleSeconds: 60 } });
    here.metrics = '\nfoyer_speech_waiting 0\n';
    await here.settle();
    expect(replicas(here)).to.equal(0);
    expect(here.condition('SubtitlesReady')).to.equal('True ScaledToZero');
    expect(here.status.subtitles).to.deep.equal({ model: 'base', workers: 0, waiting: 0 });
    here.metrics = '\nfoyer_speech_waiting 3\n';
    await here.settle();
    expect(replicas(here)).to.equal(1);
    expect(here.condition('SubtitlesReady')).to.equal('False Starting');
    here.querySpeech = await answering({ ...ready, secondsPerMinute: 6.04 });
    putPod(here, 'speech-1', up);
    await here.settle();
    expect(here.condition('SubtitlesReady')).to.equal('True Running');
    expect(here.message('SubtitlesReady')).to.equal('1 worker has loaded model base on the CPU');
    expect(here.status.subtitles).to.deep.equal({
      model: 'base',
      device: 'cpu',
      workers: 1,
      waiting: 3,
      secondsPerMinute: 6,
    });
    here.metrics = '\nfoyer_speech_waiting 0\n';
    await here.settle();
    here.later(50_000);
    await here.pass();
    expect(replicas(here), 'it may be wanted again').to.equal(1);
    here.later(10_000);
    await here.pass();
    expect(replicas(here)).to.equal(0);
    here.kube.drop('Pod', 'speech-1');
    await here.settle();
    expect(here.condition('SubtitlesReady')).to.equal('True ScaledToZero');
    expect(await here.pass(), 'and nothing is written at rest').to.equal(0);
  });

  it('stay as many as they are while the demand is unknown, and as many as spec.subtitles.replicas without scaling', () => {
    const zero = { scaleToZero: true, idleSeconds: 10, replicas: undefined };
    const none = { waiting: 0, idleMs: 99_000, workers: [] };
    const idle = { waiting: undefined, idleMs: 99_000, workers: [] };
    expect([0, 1].map((running) => speechReplicas(zero, idle, running))).to.deep.equal([0, 1]);
    expect(
      speechReplicas(zero, { waiting: 0, idleMs: 9000, workers: [] }, 3),
      'after a change from 3 replicas',
    ).to.equal(1);
    const stuck = { ...unavailable('model-missing'), pod: 'speech-1' } as unknown as NamedReport;
    expect(speechReplicas(zero, { ...none, workers: [stuck] }, 1), 'without a model it waits for one').to.equal(1);
    expect(speechReplicas(zero, none, 1)).to.equal(0);
    const fixed = { scaleToZero: undefined, idleSeconds: 10 };
    expect(speechReplicas({ ...fixed, replicas: 2 }, none, 0)).to.equal(2);
    expect(speechReplicas({ ...fixed, replicas: undefined }, none, 0)).to.equal(1);
    const clock = new IdleClock();
    expect([clock.look(0, 1000), clock.look(0, 4000), clock.look(undefined, 5000), clock.look(0, 7000)]).to.deep.equal([
      ...[0, 3000, 0, 2000],
    ]);
    expect([
      speechWaiting('# TYPE foyer_speech_waiting gauge\nfoyer_speech_waiting 2\n'),
      speechWaiting('x 1\n'),
    ]).to.deep.equal([2, undefined]);
  });

  it('fall back to the CPU when no GPU comes in ten seconds, and try it again with the next start', async () => {
    const here = world({ ...managed, subtitles: { scaleToZero: true, idleSeconds: 60, accelerator } });
    here.metrics = '\nfoyer_speech_waiting 1\n';
    await here.settle();
    expect(limitsOf(here)[GPU]).to.equal('1');
    expect(deviceOf(here)).to.equal('auto');
    putPod(here, 'speech-1', unplaced(here.now));
    here.later(8000);
    await here.pass();
    expect(limitsOf(here), 'it waits').to.have.property(GPU);
    here.later(2000);
    await here.settle();
    expect(limitsOf(here)).not.to.have.property(GPU);
    expect(deviceOf(here)).to.equal('cpu');
    here.kube.drop('Pod', 'speech-1');
    here.querySpeech = await answering(ready);
    putPod(here, 'speech-2', up);
    await here.settle();
    expect(here.condition('SubtitlesReady')).to.equal('True FellBackToCPU');
    expect(here.message('SubtitlesReady')).to.contain(`no ${GPU} was available for 10 s`);
    here.later(3_600_000);
    await here.settle();
    expect(limitsOf(here), 'not in the middle of its work').not.to.have.property(GPU);
    here.metrics = '\nfoyer_speech_waiting 0\n';
    await here.settle();
    expect(limitsOf(here), 'half an hour later, and nothing waits').to.have.property(GPU);
  });

  it('keep the GPU where one of several pods has it, and fall back where a quota leaves none', async () => {
    const here = world({ ...managed, subtitles: { replicas: 2, accelerator } });
    await here.settle();
    here.querySpeech = await answering({ ...ready, device: 'gpu' });
    putPod(here, 'speech-1', up);
    putPod(here, 'speech-2', unplaced(here.now));
    here.later(30_000);
    await here.settle();
    expect(limitsOf(here)).to.have.property(GPU);
    expect(here.condition('SubtitlesReady')).to.equal('True Running');
    expect(here.message('SubtitlesReady')).to.equal('1 worker has loaded model base on the GPU');
    for (const name of ['speech-1', 'speech-2']) here.kube.drop('Pod', name);
    const live = here.kube.get('Deployment', 'media', DEPLOYMENT) as KubeObject;
    const failure = { type: 'ReplicaFailure', status: 'True', message: `exceeded quota: requests.${GPU}=1` };
    const conditions = [{ ...failure, lastTransitionTime: here.now.toISOString() }];
    here.kube.put({ ...live, status: { ...(live.status as Plain), conditions } });
    here.later(10_000);
    await here.pass();
    expect(limitsOf(here)).not.to.have.property(GPU);
  });

  it('are reported as they say of themselves', async () => {
    const cases: [Plain, string][] = [
      [ready, 'True Running'],
      [{ ...ready, fellBack: true, message: 'CUDA out of memory' }, 'True FellBackToCPU'],
      [unavailable('model-missing', 'there is no /models/base'), 'False ModelMissing'],
      [unavailable('model-invalid'), 'False ModelInvalid'],
      [unavailable('sample-failed'), 'False ModelInvalid'],
      [unavailable('no-python'), 'False Unavailable'],
      [{ ...ready, device: null, state: 'starting' }, 'False Starting'],
    ];
    for (const [answer, expected] of cases) {
      const here = await withWorker({}, answer);
      expect(here.condition('SubtitlesReady'), expected).to.equal(expected);
      if (answer.message) expect(here.message('SubtitlesReady')).to.contain(answer.message);
      expect(here.condition('Ready'), 'the server is whole without them').to.equal('True AllReady');
      expect(here.condition('Stalled')).to.equal('absent');
      expect(here.condition('Degraded').startsWith('True'), `Degraded with ${expected}`).to.equal(
        /Model|Unav/.test(expected),
      );
    }
    const unused = await withWorker({ accelerator }, ready);
    expect(unused.condition('SubtitlesReady')).to.equal('True FellBackToCPU');
    expect(unused.message('SubtitlesReady')).to.contain(`has ${GPU}, and the model does not use it`);
    const broken = await withWorker({}, { nonsense: true });
    expect(broken.condition('SubtitlesReady')).to.equal('False Starting');
  });

  it('say which file of the model is missing or wrong, as the init container ended, until it succeeds', async () => {
    const modelObjects = { prefix: 'base/', sha256: 'b'.repeat(64) };
    const ended = (message: string) => ({ terminated: { exitCode: 1, message } });
    const pod = (container: Plain) => ({ phase: 'Pending', initContainerStatuses: [{ name: 'model', ...container }] });
    const crashing = { waiting: { reason: 'CrashLoopBackOff' } };
    const states: [Plain, string][] = [
      [{ state: ended('ModelMissing: no base/model.bin') }, 'False ModelMissing'],
      [{ state: crashing, lastState: ended('ModelInvalid: another digest') }, 'False ModelInvalid'],
      [{ state: { running: {} }, lastState: ended('ModelInvalid: another digest') }, 'False ModelInvalid'],
      [{ state: { terminated: { exitCode: 0 } }, lastState: ended('ModelInvalid: x') }, 'False Starting'],
    ];
    const here = await withWorker({ modelObjects }, unavailable('x'), pod(states[0]?.[0] ?? {}));
    for (const [container, expected] of states) {
      here.querySpeech = async () => undefined;
      putPod(here, 'speech-1', pod(container));
      await here.settle();
      expect(here.condition('SubtitlesReady')).to.equal(expected);
    }
    expect(here.condition('Stalled')).to.equal('absent');
  });

  it('have an image of their own, which follows version and registry of the product', async () => {
    const image = async (spec: Plain): Promise<string | undefined> => {
      const here = world({ ...managed, subtitles: {}, ...spec });
      await here.settle();
      return templateOf(here).spec.containers[0]?.image;
    };
    expect(await image({})).to.equal('foyer-subtitles:1.0.0');
    expect(await image({ version: '2.0.0', registry: 'mirror.example:5000/a' })).to.equal(
      'mirror.example:5000/a/foyer-subtitles:2.0.0',
    );
    expect(await image({ image: 'our/product', version: '3' })).to.equal('our/product-subtitles:3');
    expect(await image({ subtitles: { image: 'own@sha256:1' } })).to.equal('own@sha256:1');
  });

  it('that are not ready, and of another image, do not hold up the contract migration of a new version', async () => {
    const here = world({ ...managed, subtitles: { image: 'own/speech:7' } });
    const settle = async (): Promise<void> => {
      await here.settle({ stuck: [DEPLOYMENT] });
      const live = here.kube.get('Deployment', 'media', DEPLOYMENT) as KubeObject;
      const status = { replicas: 1, updatedReplicas: 1, readyReplicas: 0, observedGeneration: 99 };
      here.kube.put({ ...live, status });
      await here.settle({ stuck: [DEPLOYMENT] });
    };
    await settle();
    here.change({ version: '2.0.0' });
    await settle();
    expect(here.condition('Progressing')).to.equal('False Stable');
    const contracted = here.kube
      .list('Job', 'media')
      .filter(({ metadata }) => metadata.annotations?.['foyer.media/phase'] === 'contract');
    expect(JSON.stringify(contracted)).to.contain('foyer:2.0.0');
    expect(here.status.upgradingTo).to.equal(undefined);
  });
});
