// Transcode Jobs on an extended resource of the node. No device is behind it: the reaction of the pool and the
// conditions is real, and they also report that the encoder of the card does not work there.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { gpus, node, UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { HlsPlayer } from './support/player.ts';
import { until } from './support/until.ts';

const RESOURCE = 'nvidia.com/gpu';
const FALLBACK_MS = 10_000;
/** A session of a worker that ended resumes within this time. */
const RESUME_MS = 8000;

interface PodSpec {
  nodeName?: string;
  containers: { resources: { limits?: Record<string, string> } }[];
}

const specOf = ({ spec }: KubeObject): PodSpec => spec as PodSpec;
const phaseOf = ({ status }: KubeObject): string => (status as { phase: string }).phase;
const accelerated = (pod: KubeObject): boolean =>
  specOf(pod).containers.some(({ resources }) => resources.limits?.[RESOURCE] === '1');

describe('transcode Jobs on an accelerator', function () {
  this.timeout(120_000);
  let home: Home;
  let player: HlsPlayer;

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  before(async function () {
    this.timeout(UP_MS);
    await node();
    await gpus(2);
    const { real } = await fixtures();
    const resources = { requests: { cpu: '50m', memory: '64Mi' } };
    const accelerator = { resourceName: RESOURCE, kind: 'nvenc' };
    const pool = { accelerator, warm: 3, max: 3, sessionsPerJob: 1, fallbackToCPU: false, resources };
    const films = { 'Big Buck Bunny (2008).mp4': `${real}/video/bbb_full_720p.mp4` };
    home = await startHome({ name: 'gpu', spec: { api: { replicas: 1 }, transcode: pool }, films });
  });
  after(async function () {
    this.timeout(UP_MS);
    await player?.stop();
    await home?.remove();
    await gpus(0);
  });

  const workers = async (phase = /^(Pending|Running)$/): Promise<KubeObject[]> =>
    (await home.pods('transcode')).filter((pod) => phase.test(phaseOf(pod)));
  const names = (pods: readonly KubeObject[]): string[] => pods.map(({ metadata }) => metadata.name).sort();
  const transcode = async () => (await home.status()).transcode;
  const message = async (): Promise<string> =>
    (await home.status()).conditions?.find(({ type }) => type === 'TranscodeReady')?.message ?? '';

  it('are placed where there is one, and the third waits and is named', async () => {
    await home.reaches('TranscodeReady', 'True Unschedulable');
    const pods = await workers();
    expect(pods.filter(accelerated)).to.have.length(3);
    expect(pods.filter((pod) => specOf(pod).nodeName)).to.have.length(2);
    const [waiting] = pods.filter((pod) => !specOf(pod).nodeName);
    await until('two workers', async () => (await transcode())?.warm === 2);
    expect(await transcode()).to.deep.equal({ jobs: 3, warm: 2, sessions: 0, waiting: 0, accelerator: 'cpu' });
    expect(await message())
      .to.include(waiting?.metadata.name)
      .and.include(RESOURCE);
    await sleep(FALLBACK_MS + 3000);
    expect(names(await workers()), 'it stays, as nothing else is allowed').to.deep.equal(names(pods));
    expect(await home.condition('TranscodeReady')).to.equal('True Unschedulable');
    expect(await home.condition('Ready')).to.equal('True AllReady');
  });

  it('fall to the CPU after ten seconds where that is allowed', async () => {
    const before = await workers();
    const [waited] = before.filter((pod) => !specOf(pod).nodeName);
    await home.change({ transcode: { fallbackToCPU: true } });
    await home.reaches('TranscodeReady', 'True FellBackToCPU');
    const pods = await until('a third worker', async () => {
      const running = await workers(/^Running$/);
      return running.length === 3 && (await transcode())?.warm === 3 && running;
    });
    expect(pods.filter(accelerated)).to.have.length(2);
    expect(pods.map(({ metadata }) => metadata.name)).not.to.include(waited?.metadata.name);
    expect(await transcode()).to.deep.equal({ jobs: 3, warm: 3, sessions: 0, waiting: 0, accelerator: 'cpu' });
    expect(await message(), 'there is no card behind the resource').to.include('3 of 3 workers encode on the CPU');
  });

  /** The pod that serves the only session. */
  const serving = (): Promise<string> =>
    until('a worker that serves', async () => {
      const text = await (await fetch(`${home.url.replace(/:8080$/, ':9090')}/metrics`)).text();
      return /^foyer_transcode_worker_sessions\{pod="([^"]+)"[^}]*\} 1$/m.exec(text)?.[1];
    });

  it('serve a session each, and the status counts it', async () => {
    const [film] = await home.films(1);
    const body = { client: { builtIn: 'hls' }, startMs: 0, quality: '360p-0m8' };
    const started = await home.owner.startPlayback({ params: { id: film?.id ?? '' }, body });
    expect(started.body.session.decision).to.include({ method: 'transcode' });
    player = new HlsPlayer(home, started.body.session).start();
    // The session counts at once; its worker is no longer warm once it has reported so.
    await until('the session', async () => {
      const seen = await transcode();
      return seen?.sessions === 1 && seen.warm === 2;
    });
    expect(await transcode()).to.deep.include({ jobs: 3, warm: 2, sessions: 1, waiting: 0 });
    await until('a picture', () => player.positionMs > 5000);
    expect(player.faults).to.deep.equal([]);
  });

  const evict = (name: string): Promise<string> => {
    const metadata = { name, namespace: home.namespace };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    const path = `/api/v1/namespaces/${home.namespace}/pods/${name}/eviction`;
    return home.kubectl.run(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
  };
  const kill = (name: string): Promise<string> =>
    home.kubectl.run(['delete', 'pod', name, '-n', home.namespace, '--grace-period=0', '--force']);

  for (const [what, end] of [
    ['drained', evict],
    ['killed', kill],
  ] as const)
    it(`hand the session of a ${what} pod to another, and the pod is made again`, async () => {
      const lost = await serving();
      player.calm();
      const at = player.bufferedMs;
      await end(lost);
      expect(await until('another worker', async () => (await serving()) !== lost && serving())).not.to.equal(lost);
      await until('more of the film', () => player.bufferedMs > at + 20_000);
      expect(player.stallMs).to.be.below(RESUME_MS);
      expect(player.faults).to.deep.equal([]);
      const again = await until('three workers', async () => {
        const running = await workers(/^Running$/);
        return running.length === 3 && (await transcode())?.warm === 2 && running;
      });
      expect(names(again)).not.to.include(lost);
      expect((await transcode())?.jobs).to.equal(3);
    });

  it('fall to the CPU also where a quota leaves none of it', async () => {
    await player.stop();
    await home.change({ transcode: { max: 0 } });
    await until('no worker', async () => (await workers()).length === 0);
    const metadata = { name: 'no-device', namespace: home.namespace };
    const spec = { hard: { [`requests.${RESOURCE}`]: '0' } };
    await home.kubectl.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec });
    await until('the quota', async () => {
      const quota = await home.kubectl.find<KubeObject>({ kind: 'resourcequota', ...metadata });
      return (quota?.status as { hard?: object } | undefined)?.hard !== undefined;
    });
    await home.change({ transcode: { warm: 1, max: 1 } });
    await home.reaches('TranscodeReady', 'True FellBackToCPU');
    const pods = await until('a worker', async () => {
      const running = await workers(/^Running$/);
      return running.length === 1 && running;
    });
    expect(pods.filter(accelerated)).to.deep.equal([]);
  });
});
