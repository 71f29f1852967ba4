// Live television on a real cluster: the sample of a TunerDevice with a device in a pod. Its channels are watched and recorded while its
// tuner process is killed, and the recording is an item of its library, whose pictures have numbers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { TunerDeviceStatus } from '#operator/schemas/tuner-device.ts';
import { BITS_A_MS, numbered, PICTURE_MS, picturesOf } from '#support/station.ts';
import { atEndOfRun, temporaryFolder } from '#support/stores.ts';
import { images, UP_MS } from './support/cluster.ts';
import { fillClaim, type Home, inNamespace, startHome } from './support/home.ts';
import { operatorOf } from './support/operator-process.ts';
import { pod } from './support/pods.ts';
import { until } from './support/until.ts';

const SAMPLE = 'manifests/samples/tuner.yaml';
const SECONDS = 320;
/** The operator reads the plan of the server within this time. */
const START_MS = 30_000;
const RECORDED_MS = 60_000;
const MOST_LOST_MS = 10_000;
const QUIET_MS = 20_000;
const PORT = 18_765;

/** Ends the tuner, which is the child of the first process of its pod. */
const KILL = `const fs = require('node:fs'); const [pid] = fs.readFileSync('/proc/1/task/1/children', 'utf8').split(' ');
  process.kill(Number(pid), 'SIGKILL');`;

describe('television in a cluster', function () {
  this.timeout(240_000);
  let home: Home;
  let address = '';
  let recordingId = '';
  const folder = temporaryFolder('television', atEndOfRun);

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  before(async function () {
    this.timeout(UP_MS);
    home = await startHome({ name: 'television' });
    await startAntenna();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
    if (home) await home.kubectl.deleteNamespace(`${home.namespace}-roof`);
  });

  /** A device at an address of the node's network: one of the cluster's own is never reached. */
  async function startAntenna(): Promise<void> {
    const { kubectl } = home;
    const namespace = `${home.namespace}-roof`;
    const files: Record<string, string> = { 'antenna.ts': 'test/cluster/support/antenna.ts' };
    for (const channel of [1, 2]) {
      const path = join(folder, `${channel}.ts`);
      writeFileSync(path, await numbered(channel - 1, SECONDS));
      files[`${channel}.ts`] = path;
    }
    const metadata = { name: 'antenna', namespace };
    await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
    const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await fillClaim(kubectl, { ...claim, spec: storage }, files);
    const [image = ''] = await images('product');
    const env = { BYTES_A_MS: String(BITS_A_MS / 8), PORT: String(PORT) };
    const options = { ...metadata, image, args: ['/antenna/antenna.ts'], env, mounts: { '/antenna': 'antenna' } };
    const made = pod(options) as { spec: object };
    await kubectl.apply({ ...made, spec: { ...made.spec, hostNetwork: true } });
    await kubectl.wait({ kind: 'pod', ...metadata }, 'condition=Ready', 60);
    const words = ['get', 'pod', 'antenna', '-n', namespace, '-o', 'jsonpath={.status.hostIP}'];
    address = `${await kubectl.run(words)}:${PORT}`;
  }

  const status = async (): Promise<TunerDeviceStatus> =>
    (await home.kubectl.find<{ status: TunerDeviceStatus }>(home.named('tunerdevice', 'roof')))?.status ?? {};
  const call = async <T>(path: string, method = 'GET', body?: object): Promise<T> => {
    const headers = { ...home.headers, 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, home.url), { method, headers, body: body ? JSON.stringify(body) : null });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (answer.headers.get('content-type')?.includes('json') ? answer.json() : answer.text()) as Promise<T>;
  };
  const channel = (number: string): Promise<string> =>
    until(`channel ${number}`, async () => {
      const { items } = await call<{ items: { id: string; number: string }[] }>('/api/v1/live/channels');
      return items.find((one) => Number(one.number) === Number(number))?.id;
    });
  const recording = () =>
    call<{
      state: string;
      itemId: string | null;
      startAt: string;
      endAt: string;
      gaps: { from: string; to: string }[];
    }>(`/api/v1/live/recordings/${recordingId}`);

  /** Requests of the operator that changed something while the channel played. */
  async function writtenIn(ms: number, read: () => Promise<unknown>): Promise<object[]> {
    const mark = await home.cluster.audit.mark();
    for (const end = Date.now() + ms; Date.now() < end; await sleep(2000)) await read();
    const written = await home.cluster.audit.writes(mark, operatorOf(home.namespace));
    return written.filter(({ resource }) => resource !== 'leases');
  }

  it('needs one apply after the quickstart', async () => {
    const objects = inNamespace(SAMPLE, home.namespace).map(
      (object) => JSON.parse(JSON.stringify(object).replace('192.168.1.20', address)) as KubeObject,
    );
    await home.kubectl.apply(...objects);
    await home.kubectl.wait(home.named('tunerdevice', 'roof'), 'condition=Ready', 120);
    await until('its channels', async () => (await status()).channels === 2);
    expect((await status()).tuners).to.deep.include({ total: 2 });
    await home.reaches('Ready', 'True AllReady');
  });

  it('shows a channel through the Service, and the operator writes nothing at rest while it plays', async () => {
    const body = { client: { builtIn: 'chromium' } };
    const { session } = await call<{ session: { id: string; url: string } }>(
      `/api/v1/live/channels/${await channel('2')}/watch`,
      'POST',
      body,
    );
    const master = await call<string>(session.url);
    const [variant = ''] = /^[^#].*$/m.exec(master) ?? [];
    const list = new URL(variant, new URL(session.url, home.url));
    const segments = async () => (await call<string>(list.pathname)).match(/^segments\/\S+$/gm) ?? [];
    const first = await until('three segments', async () => {
      const names = await segments();
      return names.length >= 3 && names;
    });
    await until('the status has it', async () => (await status()).live === 1);
    await until('a time without a write', async () => (await writtenIn(QUIET_MS, segments)).length === 0, 90_000);
    expect((await segments()).at(-1)).to.not.equal(first.at(-1));
    await call(`/api/v1/live/sessions/${session.id}`, 'DELETE').catch(() => undefined);
  });

  it('records through the death of its tuner process', async () => {
    const startAt = new Date(Date.now() + START_MS);
    const endAt = new Date(startAt.getTime() + RECORDED_MS);
    const times = { startAt: startAt.toISOString(), endAt: endAt.toISOString(), startPadMs: 0, endPadMs: 0 };
    const made = await call<{ id: string; state: string }>('/api/v1/live/recordings', 'POST', {
      ...{ channelId: await channel('1'), title: 'The numbers', ...times },
    });
    recordingId = made.id;
    expect(made.state).to.equal('scheduled');
    await until('the status names its start', async () => (await status()).nextRecordingAt !== undefined);
    await until('the status counts it', async () => (await status()).recording === 1);
    await sleep(RECORDED_MS / 3);
    const [tuner] = await home.pods('tuner');
    await home.kubectl.run(['exec', tuner?.metadata.name ?? '', '-n', home.namespace, '--', 'node', '-e', KILL]);
    const done = await until(
      'its end',
      async () => {
        const found = await recording();
        return ['completed', 'partial', 'failed'].includes(found.state) && found;
      },
      RECORDED_MS + 60_000,
    );
    expect(done.state).to.be.oneOf(['completed', 'partial']);
  });

  it('has the recording in its library, with each picture once but for those of the gap that it names', async () => {
    const { itemId, gaps, startAt, endAt } = await until('the item', async () => {
      const found = await recording();
      return found.itemId !== null && found;
    });
    const id = itemId ?? '';
    const started = await until('its file, once it is joined', async () => {
      const codecs = { video: [{ codec: 'h264' }], audio: [{ codec: 'aac', maxChannels: 2 }] };
      const client = { direct: [{ containers: ['mkv'], ...codecs }] };
      const made = await home.owner.startPlayback({ params: { id }, body: { startMs: 0, client } });
      if (made.status !== 201) throw new Error(JSON.stringify([made.body, await recording()]));
      return made;
    });
    const answer = await fetch(new URL(started.body.session.url, home.url), { headers: home.headers });
    const path = join(folder, 'recording.mkv');
    writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
    const numbers = await picturesOf(path, 0);
    const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0));
    const lost = steps.filter((step) => step > 1).map((step) => (step - 1) * PICTURE_MS);
    const named = gaps.map(({ from, to }) => Date.parse(to) - Date.parse(from));
    const found = JSON.stringify({ pictures: numbers.length, lost, named });
    expect(Math.min(...steps), found).to.equal(1);
    for (const ms of lost) expect(ms, found).to.be.below(MOST_LOST_MS);
    const whole = (Date.parse(endAt) - Date.parse(startAt)) / PICTURE_MS;
    expect(numbers.length + lost.reduce((sum, ms) => sum + ms, 0) / PICTURE_MS, found).to.be.closeTo(
      whole,
      5000 / PICTURE_MS,
    );
  });

  it('releases its objects when it is deleted', async () => {
    await home.kubectl.run(['delete', 'tunerdevice', 'roof', '-n', home.namespace, '--timeout=90s']);
    await until('no pod', async () => (await home.pods('tuner')).length === 0);
  });
});
