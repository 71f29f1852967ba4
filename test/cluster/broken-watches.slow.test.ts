// An operator whose way to the API server breaks in every way at random, while people change its resources: it keeps
// up, and misses nothing. The whole of it: FOYER_FAULT_SECONDS=600; FOYER_SEED takes another order.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { pick, randomFrom, shuffled } from './mutations/random.ts';
import { UP_MS } from './support/cluster.ts';
import { FAULTS, type Fault, FaultyApi } from './support/faulty-api.ts';
import { type OperatorProcess, operatorOf } from './support/operator-process.ts';
import { Stage, serverOnStage } from './support/stage.ts';
import { until } from './support/until.ts';

const SECONDS = Number(process.env.FOYER_FAULT_SECONDS ?? 90);
const SEED = Number(process.env.FOYER_SEED ?? 1);
/** A change is applied within this time after the fault is over. */
const LAG_MS = 30_000;
const ROUND_MS = 90_000;

interface Wanted {
  api: number;
  workers: number;
  warm: number;
}

describe('an operator whose way to the API server breaks', function () {
  this.timeout((SECONDS + 600) * 1000);
  let stage: Stage;
  let namespace = '';
  let api: FaultyApi;
  let operator: OperatorProcess;
  const random = randomFrom(SEED);
  const wanted: Wanted = { api: 2, workers: 1, warm: 1 };

  const isReady = async (): Promise<boolean> => {
    const [server] = await stage.list('foyer.media/v1alpha1 mediaservers', namespace);
    const { observedGeneration, conditions = [] } = (server?.status ?? {}) as {
      observedGeneration?: number;
      conditions?: { type: string; status: string }[];
    };
    const of = (type: string) => conditions.find((one) => one.type === type)?.status;
    return (
      observedGeneration === server?.metadata.generation && of('Ready') === 'True' && of('Progressing') === 'False'
    );
  };

  before(async function () {
    this.timeout(UP_MS);
    stage = await Stage.open();
    namespace = await stage.namespace('faults', ['home']);
    api = await FaultyApi.start(stage.cluster.kubeconfig);
    operator = await stage.operator(namespace, { kubeconfig: api.kubeconfig() });
    const server = serverOnStage('home', { transcode: { idleSeconds: 10, max: 4 } });
    await stage.cluster.kubectl.apply({ ...server, metadata: { ...server.metadata, namespace } });
  });
  after(async function () {
    this.timeout(180_000);
    if (api) api.fault = undefined;
    await operator?.kill();
    api?.close();
    await stage?.close();
  });

  afterEach(function () {
    if (this.currentTest?.state !== 'failed') return;
    for (const line of operator.lines.slice(-20)) process.stderr.write(`${JSON.stringify(line)}\n`);
  });

  /** A change by another client: to a spec, or the deletion of a child. */
  async function change(): Promise<void> {
    const { kubectl } = stage.cluster;
    const what = pick(random, ['api', 'workers', 'warm', 'child'] as const);
    if (what === 'child') {
      const child = pick(random, ['service/home-api', 'deployment/home-workers', 'networkpolicy/home-stores']);
      return void (await kubectl.run(['delete', child, '-n', namespace, '--ignore-not-found', '--wait=false']));
    }
    wanted[what] = 1 + Math.floor(random() * 3);
    const spec = {
      api: { replicas: wanted.api },
      workers: { replicas: wanted.workers },
      transcode: { warm: wanted.warm },
    };
    await kubectl.patch({ kind: 'mediaserver', name: 'home', namespace }, { spec });
  }

  /** The state of the resource in the cluster, in the form of {@link asWanted}. */
  async function standing(): Promise<string> {
    const names = async (of: string, name: RegExp) =>
      (await stage.list(of, namespace)).filter(
        ({ metadata }) => name.test(metadata.name) && !metadata.deletionTimestamp,
      );
    const replicas = (objects: KubeObject[]) =>
      objects.map(({ spec }) => (spec as { replicas: number }).replicas).join();
    const [deployments, services, policies, jobs] = [
      await names('apps/v1 deployments', /^home-(api|workers)$/),
      await names('v1 services', /^home-api$/),
      await names('networking.k8s.io/v1 networkpolicies', /^home-stores$/),
      await names('batch/v1 jobs', /^home-transcode-/),
    ];
    return [replicas(deployments), services.length, policies.length, jobs.length].join(' ');
  }
  const asWanted = () => `${wanted.api},${wanted.workers} 1 1 ${wanted.warm}`;

  it('takes up every change soon after each fault', async () => {
    await until('it is Ready', isReady, 120_000);
    const lags: string[] = [];
    const deadline = Date.now() + SECONDS * 1000;
    let order: Fault[] = [];
    while (Date.now() < deadline || order.length > 0) {
      if (order.length === 0) order = shuffled(random, FAULTS);
      const fault = order.pop() ?? 'cut';
      api.fault = fault;
      for (let count = 0; count < 2; count++) {
        await sleep(500 + random() * 2000);
        await change();
      }
      await sleep(random() * 3000);
      api.fault = undefined;
      const began = Date.now();
      await until(`${asWanted()} after ${fault}`, async () => (await standing()) === asWanted(), ROUND_MS);
      lags.push(`${fault} ${Date.now() - began}`);
    }
    const late = lags.filter((lag) => Number(lag.split(' ')[1]) > LAG_MS);
    expect(late, lags.join(', ')).to.deep.equal([]);
    expect([...api.bitten.keys()].sort(), 'every fault met somebody').to.deep.equal([...FAULTS].sort());
  });

  it('is the same process, has counted the ends of its watches, and has logged no error of its own', async () => {
    expect(operator.alive).to.equal(true);
    expect(operator.alarms).to.deep.equal([]);
    const port = operator.lines.find(({ metrics }) => metrics !== undefined)?.metrics;
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const reasons = [...text.matchAll(/foyer_informer_restarts_total\{.*reason="(\w+)"\} [1-9]/g)].map(
      ([, reason]) => reason,
    );
    expect(new Set(reasons)).to.include.keys('expired', 'connection', 'refused', 'throttled', 'ended');
  });

  it('has missed nothing: an operator that starts again has nothing to write', async () => {
    const writes = async (mark: number, user: RegExp) =>
      (await stage.cluster.audit.writes(mark, user)).filter((one) => one.namespace === namespace);
    await until(
      'it is Ready, and writes nothing more',
      async () => {
        const from = await stage.cluster.audit.mark();
        await sleep(5000);
        return (await isReady()) && (await writes(from, /^foyer-operator$/)).length === 0;
      },
      120_000,
    );
    expect(await operator.stop()).to.equal(0);
    const mark = await stage.cluster.audit.mark();
    const next = await stage.operator(namespace);
    await until('it has begun', () => next.lines.some(({ msg }) => msg === 'the caches are filled'));
    await sleep(5000);
    const late = await writes(mark, operatorOf(namespace));
    expect(late.filter(({ resource }) => resource !== 'events')).to.deep.equal([]);
    await next.kill();
  });
});
