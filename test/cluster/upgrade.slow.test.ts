// People watch while the server is given another version and takes it back, and while each of its pods is killed in turn.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { clientFor } from '#support/api.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { node, UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { ADDS, DROPS, NEXT, nextImage } from './support/next-version.ts';
import { HlsPlayer, RangePlayer } from './support/player.ts';
import { until } from './support/until.ts';

const STALL_MS = 6000;
/** A store takes some seconds to be there again. */
const KILLED_STALL_MS = 15_000;
const FILM_MS = 596_460;
const CODE = ['api', 'workers', 'transcode'];

interface PodStatus {
  containerStatuses?: { ready: boolean; imageID: string }[];
}
const imageOf = ({ spec }: KubeObject): string =>
  (spec as { containers: { image: string }[] }).containers[0]?.image ?? '';
const isReady = ({ status }: KubeObject): boolean =>
  ((status as PodStatus).containerStatuses ?? []).some(({ ready }) => ready);

describe('a server that people watch', function () {
  this.timeout(300_000);
  let home: Home;
  let players: (HlsPlayer | RangePlayer)[] = [];

  before(async function () {
    this.timeout(UP_MS);
    await node();
    await nextImage();
    const { real } = await fixtures();
    const source = `${real}/video/bbb_full_720p.mp4`;
    const transcode = { warm: 1, max: 2, resources: { requests: { cpu: '50m', memory: '64Mi' } } };
    home = await startHome({ name: 'upgrade', spec: { transcode }, films: { 'Big Buck Bunny (2008).mp4': source } });
    const [film] = await home.films(1);
    const begin = async (device: string, body: object) => {
      const viewer = await home.viewer(device);
      const params = { id: film?.id ?? '' };
      const answer = await clientFor(viewer.url, viewer.headers).startPlayback({
        params,
        body: { startMs: 0, ...body },
      });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      return { viewer, session: answer.body.session };
    };
    const copied = await Promise.all(
      ['sofa', 'kitchen'].map((device) => begin(device, { client: { builtIn: 'hls' } })),
    );
    const encoded = await begin('tablet', { client: { builtIn: 'hls' }, quality: '360p-0m8' });
    const direct = await begin('television', { client: { builtIn: 'native' } });
    const sessions = [...copied, encoded, direct].map(({ session }) => session.decision.method);
    expect(sessions).to.deep.equal(['direct_stream', 'direct_stream', 'transcode', 'direct_play']);
    players = [
      ...[...copied, encoded].map(({ viewer, session }) => new HlsPlayer(viewer, session)),
      new RangePlayer(direct.viewer, direct.session, { source, durationMs: FILM_MS }),
    ];
    for (const player of players) player.start();
    await goOn();
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await Promise.all(players.map((player) => player.stop()));
    await home?.remove();
  });

  /** Each player gets ten seconds more than it has. */
  async function goOn(): Promise<void> {
    const from = players.map(({ bufferedMs }) => bufferedMs);
    await until('more of every film', () => players.every((player, i) => player.bufferedMs > (from[i] ?? 0) + 10_000));
  }

  const faults = (): string[] => players.flatMap((player) => player.faults);
  const longestStall = (): number => Math.max(...players.map(({ stallMs }) => stallMs));

  async function settles(version: string, image: string): Promise<void> {
    await until(
      `version ${version}`,
      async () => {
        const { version: runs, conditions } = await home.status();
        const progressing = conditions?.find(({ type }) => type === 'Progressing');
        const pods = (await Promise.all(CODE.map((component) => home.pods(component)))).flat();
        const all = pods.length >= 4 && pods.every((pod) => imageOf(pod) === image && isReady(pod));
        return runs === version && progressing?.status === 'False' && all;
      },
      240_000,
    );
  }

  /** Names of the migrations that Jobs ran. */
  async function ran(): Promise<string[]> {
    const pods = await home.pods('migrate');
    const logs = await Promise.all(
      pods.map(({ metadata }) => home.kubectl.run(['logs', metadata.name, '-n', home.namespace])),
    );
    return logs.flatMap((log) => [ADDS, DROPS].filter((name) => log.includes(name)));
  }

  it('gets the next version with its migrations, without a failed request', async () => {
    for (const player of players) player.calm();
    await home.change({ version: NEXT });
    await settles(NEXT, `foyer:${NEXT}`);
    await until('both phases', async () => (await ran()).sort().join() === [ADDS, DROPS].join());
    await goOn();
    expect(faults()).to.deep.equal([]);
    expect(longestStall()).to.be.below(STALL_MS);
  });

  it('is rolled back onto the schema of the next version, without a failed request', async () => {
    for (const player of players) player.calm();
    await home.change({ version: null });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    await settles(version, `foyer:${version}`);
    await goOn();
    expect(faults()).to.deep.equal([]);
    expect(longestStall()).to.be.below(STALL_MS);
  });

  for (const component of ['api', 'transcode', 'workers', 'redis', 'objects', 'postgres'])
    it(`continues when a pod of ${component} is killed`, async () => {
      for (const player of players) player.calm();
      const before = await home.pods(component);
      const [victim] = before;
      const name = victim?.metadata.name ?? '';
      await home.kubectl.run(['delete', 'pod', name, '-n', home.namespace, '--grace-period=0', '--force']);
      await until('another pod', async () => {
        const now = await home.pods(component);
        const made = now.filter(({ metadata }) => metadata.uid !== victim?.metadata.uid);
        return made.length >= before.length && made.every(isReady);
      });
      await goOn();
      expect(longestStall()).to.be.below(KILLED_STALL_MS);
      expect(faults().filter((fault) => /: 4\d\d /.test(fault))).to.deep.equal([]);
      await home.reaches('Degraded', 'False AllReady');
    });

  it('continues while there is no operator: pods come back, a person begins a film, and the operator resumes its work', async () => {
    for (const player of players) player.calm();
    const operators = async () =>
      (await home.kubectl.list<KubeObject>('pods', home.namespace, 'app.kubernetes.io/name=foyer-operator')).length;
    const scale = (count: number) =>
      home.kubectl.run(['scale', 'deployment/foyer-operator', '-n', home.namespace, `--replicas=${count}`]);
    await scale(0);
    await until('no operator', async () => (await operators()) === 0);
    const [victim] = await home.pods('api');
    await home.kubectl.run(['delete', 'pod', victim?.metadata.name ?? '', '-n', home.namespace, '--wait=false']);
    const [film] = await home.films(1);
    const params = { id: film?.id ?? '' };
    const body = { startMs: 60_000, client: { builtIn: 'hls' as const }, quality: '360p-0m8' };
    const viewer = await home.viewer('bedroom');
    const begun = await clientFor(viewer.url, viewer.headers).startPlayback({ params, body });
    expect(begun.status, JSON.stringify(begun.body)).to.equal(201);
    const late = new HlsPlayer(viewer, begun.body.session);
    players.push(late);
    late.start();
    await goOn();
    expect(longestStall()).to.be.below(STALL_MS);
    expect(faults()).to.deep.equal([]);
    players.pop();
    await late.stop();
    await scale(1);
    await home.change({ workers: { replicas: 2 } });
    await until('two workers', async () => (await home.pods('workers')).filter(isReady).length === 2);
  });

  it('gets a store back whose image was wrong once that is put right', async () => {
    await home.change({ redis: { managed: { image: 'nowhere:1' } } });
    await home.reaches('RedisReady', 'False ImageUnavailable');
    await home.change({ redis: { managed: { image: null } } });
    await home.reaches('RedisReady', 'True Connected');
    await goOn();
  });
});
