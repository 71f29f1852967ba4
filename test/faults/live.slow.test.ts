// Four recordings and six viewers on two tuners with two slots each, while every process and store fails in turn. The pictures of the
// broadcasts have numbers: a kill of a tuner costs at most ten seconds of its channels, any other fault costs none, no slot is used
// twice, and the gaps that are named are those of the pictures.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ACCESS, SECRET, startS3 } from '#support/s3.ts';
import { PICTURE_MS, picturesOf, Station, StationSlots } from '#support/station.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { HdHomeRun } from '#support/tuners.ts';
import { createClient, type FoyerClient } from '../../api/client/index.ts';
import { fresh, fromElsewhere, PASSWORD } from './callers.ts';
import { Machine, print } from './machine.ts';

const SECONDS = 280;
/** From the first picture to the start, and for the last segments. Pictures have numbers for 327 seconds. */
const SPARE_SEC = 45;
const START_MS = 12_000;
/** Tuners and the channels that only they receive. */
const TUNERS = [
  { id: '10AA5474', channels: [1, 2] },
  { id: '1234567F', channels: [3, 4] },
];
const CHANNELS = TUNERS.flatMap(({ channels }) => channels);
const SEGMENT_MS = 5000;
const MOST_LOST_MS = 10_000;
const GONE_MS = 8000;
/** How exactly the time of a fault and that of the pictures are comparable. */
const NEAR_MS = 1000;

/** A way to a store that can be cut. */
class Line {
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  port = 0;

  static async to(port: number): Promise<Line> {
    const line = new Line();
    const server = createServer((socket) => line.#pass(socket, port)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    atEnd(() => {
      line.cut();
      server.close();
    });
    line.port = (server.address() as AddressInfo).port;
    return line;
  }

  #pass(socket: Socket, port: number): void {
    socket.on('error', () => undefined);
    if (this.#isCut) return void socket.destroy();
    const other = connect(port, '127.0.0.1');
    other.on('error', () => socket.destroy());
    for (const one of [socket, other]) {
      this.#sockets.add(one);
      one.on('close', () => this.#sockets.delete(one));
    }
    socket.on('close', () => other.destroy());
    other.on('close', () => socket.destroy());
    socket.pipe(other).pipe(socket);
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }
}

/** Reads a channel as a player does: each segment of the list once, through every failure. */
class Viewer {
  readonly seen = new Map<number, string>();
  readonly channel: number;
  failures = 0;
  readonly #read: (path: string) => Promise<Response>;
  readonly #url: string;

  constructor(channel: number, url: string, read: (path: string) => Promise<Response>) {
    this.channel = channel;
    this.#url = url;
    this.#read = read;
  }

  async watch(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#round().catch(() => {
        this.failures += 1;
      });
      await sleep(1500);
    }
  }

  async #text(path: string): Promise<string> {
    const answer = await this.#read(path);
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.text();
  }

  async #round(): Promise<void> {
    const [variant = ''] = /^[^#].*$/m.exec(await this.#text(this.#url)) ?? [];
    const list = new URL(variant, `http://server${this.#url}`);
    const names = (await this.#text(list.pathname)).match(/^segments\/\d+\.ts$/gm) ?? [];
    for (const name of names) {
      const sequence = Number.parseInt(name.slice('segments/'.length), 10);
      if (this.seen.has(sequence)) continue;
      const answer = await this.#read(new URL(name, list).pathname);
      if (answer.ok)
        this.seen.set(sequence, `${answer.headers.get('etag')} ${(await answer.arrayBuffer()).byteLength}`);
    }
  }
}

describe('live television through every failure', function () {
  this.timeout(900_000);
  let machine: Machine;
  let line: Line;
  let station: Station;
  let owner: FoyerClient;
  let folder = '';
  const slots: StationSlots[] = [];
  const tunerIds: string[] = [];
  const channels = new Map<number, string>();

  before(async () => {
    const { port } = new URL((await startS3()).replace('s3:', 'http:'));
    line = await Line.to(Number(port));
    const secret = { endpoint: `http://127.0.0.1:${line.port}`, accessKey: ACCESS, secretKey: SECRET };
    machine = new Machine({
      ...{ apis: 2, warm: 0, live: ['127.0.0.0/8'], trustedProxies: ['127.0.0.0/8'] },
      objects: { secretRef: { name: 'bucket' }, bucketPrefix: 'faults-' },
      documents: `---\napiVersion: v1\nkind: Secret\nmetadata: { name: bucket }\nstringData: ${JSON.stringify(secret)}\n`,
      media: [{ name: 'recordings', hostPath: { path: 'recordings' }, readOnly: false }],
    });
    folder = join(machine.folder, 'recordings');
    mkdirSync(folder, { mode: 0o777 });
    await machine.start();
    owner = machine.client();
    station = await Station.build(CHANNELS.length, SECONDS + SPARE_SEC);
    await addTuners();
  });
  after(async () => machine.stop());

  async function addTuners(): Promise<void> {
    await owner.updateSettings({ body: { values: { 'dvr.keepFreeBytes': 0 } } } as never);
    const { items } = await owner.listStorages();
    const storageId = items.find(({ name }) => name === 'recordings')?.id ?? '';
    const library = await owner.createLibrary({
      body: { name: 'Television', type: 'livetv', folders: [{ storageId, path: '' }] },
    } as never);
    for (const { id, channels: own } of TUNERS) {
      const device = await HdHomeRun.start(own.map((n) => ({ GuideNumber: String(n), GuideName: `Channel ${n}` })));
      Object.assign(device.discover ?? {}, { DeviceID: id, FriendlyName: id });
      const held = new StationSlots(station, 2);
      device.stream = (request, response) => held.answer(request, response);
      slots.push(held);
      const body = { name: id, kind: 'hdhomerun' as const, libraryId: library.id, url: device.url };
      tunerIds.push((await owner.createTuner({ body })).id);
    }
    await eventually(async () => {
      for (const { number, id } of (await owner.listLiveChannels()).items) channels.set(Number(number), id);
      const { items: tuners } = await owner.listTuners();
      return channels.size === CHANNELS.length && tuners.every(({ state, pod }) => state === 'ready' && pod?.ready);
    }, 60_000);
  }

  async function viewer(channel: number): Promise<Viewer> {
    const username = fresh('viewer');
    await owner.createUser({ body: { username, role: 'admin', password: PASSWORD, mustChangePassword: false } });
    const device = createClient({ server: machine.url, clientId: fresh('tv') });
    const { accessToken } = await device.login({ body: { username, password: PASSWORD }, headers: fromElsewhere() });
    const headers = { authorization: `Bearer ${accessToken}` };
    const answer = await fetch(`${machine.url}/api/v1/live/channels/${channels.get(channel)}/watch`, {
      ...{ method: 'POST', headers: { ...headers, 'content-type': 'application/json' } },
      body: '{"client":{"builtIn":"chromium"}}',
    });
    const body = (await answer.json()) as { session: { url: string } };
    expect(answer.status, JSON.stringify(body)).to.equal(201);
    return new Viewer(channel, body.session.url, (path) => fetch(new URL(path, machine.url), { headers }));
  }

  const childOf = (pid: number): number =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);

  interface Fault {
    name: string;
    /** Channels that may lose pictures by it, for so long at most. */
    costs?: readonly number[];
    mostMs?: number;
    work: () => Promise<unknown>;
  }

  const struckAt = new Map<Fault, number>();
  const FAULTS: Fault[] = [
    { name: 'worker killed', work: () => machine.strike('worker-1') },
    { name: 'API killed', work: () => machine.strike('api-1') },
    {
      name: 'Redis emptied',
      work: async () => {
        const redis = new Redis(machine.redisUrl);
        await redis.flushall();
        redis.disconnect();
        await viewer(1); // who joins now finds no report of the tuner
      },
    },
    {
      ...{ name: 'tuner killed', costs: TUNERS[0]?.channels ?? [] },
      work: async () => process.kill(childOf(machine.pidOf(`tuner-${tunerIds[0]}`)), 'SIGKILL'),
    },
    { name: 'Postgres killed', work: () => machine.strike('postgres') },
    {
      name: 'object store unavailable',
      work: async () => {
        line.cut();
        await sleep(25_000);
        line.mend();
      },
    },
    { name: 'Redis killed', work: () => machine.strike('redis') },
    {
      ...{ name: 'tuner device gone', costs: TUNERS[0]?.channels ?? [], mostMs: GONE_MS + MOST_LOST_MS },
      work: async () => {
        slots[0]?.leave();
        await sleep(GONE_MS);
        slots[0]?.comeBack();
      },
    },
    {
      ...{ name: 'tuner and its supervisor killed', costs: TUNERS[1]?.channels ?? [] },
      work: () => machine.strike(`tuner-${tunerIds[1]}`),
    },
    { name: 'Postgres unavailable', work: () => machine.without(['postgres'], () => sleep(35_000)) },
  ];

  it('loses nothing but the seconds of a killed tuner, and says so', async () => {
    station.begin();
    const startAt = new Date(Date.now() + START_MS);
    const endAt = new Date(startAt.getTime() + SECONDS * 1000);
    const recordings = await Promise.all(
      CHANNELS.map((n) => {
        const times = { startAt: startAt.toISOString(), endAt: endAt.toISOString(), startPadMs: 0, endPadMs: 0 };
        return owner.createRecording({ body: { channelId: channels.get(n) ?? '', title: `Film ${n}`, ...times } });
      }),
    );
    expect(recordings.map(({ state }) => state)).to.not.include('conflict');
    await sleep(START_MS);
    const stop = new AbortController();
    const viewers: Viewer[] = [];
    for (const channel of [...CHANNELS, 1, 3]) viewers.push(await viewer(channel));
    const watching = Promise.all(viewers.map((one) => one.watch(stop.signal)));
    for (const fault of FAULTS) {
      const { name, work } = fault;
      struckAt.set(fault, Date.now());
      const atSec = Math.round((Date.now() - startAt.getTime()) / 1000);
      await work();
      print(`${atSec} s: ${name}, whole again after ${Math.round((Date.now() - startAt.getTime()) / 1000) - atSec} s`);
      await sleep(4000);
    }
    expect(Date.now(), 'the faults fit into the broadcast').to.be.below(endAt.getTime());
    await sleep(Math.max(0, endAt.getTime() - Date.now()));
    stop.abort();
    await watching;

    for (const held of slots) expect([held.most, held.twice], 'slots').to.deep.equal([2, 0]);
    for (const one of viewers) {
      const sequences = [...one.seen.keys()].sort((a, b) => a - b);
      print(`a viewer of ${one.channel}: ${sequences.length} segments, ${one.failures} failed rounds`);
      expect(one.seen.size).to.be.above(SECONDS / 10);
    }
    for (const [at, { id }] of recordings.entries()) await expectWhole(id, CHANNELS[at] ?? 0);
  });

  /** Its file has each picture once, but for the gaps that the recording names. */
  async function expectWhole(id: string, channel: number): Promise<void> {
    const done = await eventually(async () => {
      const found = await owner.getRecording({ params: { id } });
      const isOver = ['completed', 'partial', 'failed'].includes(found.state);
      return isOver && fileOf(channel) !== undefined && found;
    }, 120_000);
    const path = join(folder, fileOf(channel) ?? '');
    const numbers = await picturesOf(path, channel - 1);
    const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0));
    expect(Math.min(...steps), 'no picture is there twice').to.equal(1);
    const lost = steps.filter((step) => step > 1).map((step) => (step - 1) * PICTURE_MS);
    const lostAt = steps.flatMap((step, at) => (step > 1 ? [station.since + (numbers[at] ?? 0) * PICTURE_MS] : []));
    const named = done.gaps.map(({ from, to }) => Date.parse(to) - Date.parse(from));
    const firstMs = station.since + (numbers[0] ?? 0) * PICTURE_MS - Date.parse(done.startAt);
    const lastMs = Date.parse(done.endAt) - (station.since + (numbers.at(-1) ?? 0) * PICTURE_MS);
    print(
      `${channel}: ${numbers.length} pictures, ${JSON.stringify({ state: done.state, lost, named, firstMs, lastMs })}`,
    );
    expect(done.state).to.be.oneOf(['completed', 'partial']);
    for (const [at, ms] of lost.entries()) expectExplained(channel, lostAt[at] ?? 0, ms);
    expect(Math.abs(firstMs), 'begins').to.be.below(SEGMENT_MS);
    expect(lastMs, 'ends').to.be.below(SEGMENT_MS);
    const inside = done.gaps
      .filter(({ from }) => from !== done.startAt)
      .map(({ from, to }) => Date.parse(to) - Date.parse(from));
    expect(inside.length, 'gaps of the pictures').to.equal(lost.filter((ms) => ms > 1500).length);
    for (const [at, ms] of lost.filter((one) => one > 1500).entries()) expect(inside[at]).to.be.closeTo(ms, 1500);
    const shown = execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', path]);
    expect(Number(shown)).to.be.above(numbers.length / 25 - 1);
  }

  /** A fault that may cost this channel pictures was at work while they were lost. */
  function expectExplained(channel: number, fromMs: number, ms: number): void {
    const causes = FAULTS.filter((fault) => {
      const at = struckAt.get(fault) ?? 0;
      return fault.costs?.includes(channel) && at >= fromMs - NEAR_MS && at <= fromMs + ms + NEAR_MS;
    });
    const mostMs = Math.max(0, ...causes.map((cause) => cause.mostMs ?? MOST_LOST_MS));
    expect(ms, `lost in ${channel} at ${new Date(fromMs).toISOString()}`).to.be.at.most(mostMs);
  }

  const fileOf = (channel: number): string | undefined =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(
      (name) => name.includes(`Film ${channel}`) && name.endsWith('.mkv') && !/(^|\/)\./.test(name),
    );
});
