// Two people watch while one process after the other is killed: both see the whole film, and no acknowledged report is
// lost. Runs alone: its players measure how long they wait, and give up after six attempts.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { TestClient } from '#support/api.ts';
import { parseMaster, parseMedia, samplesOf, tool, validateHls } from '#support/hls-validator.ts';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine, print } from './machine.ts';

type Session = Awaited<ReturnType<TestClient['startPlayback']>>['body']['session'];

const TRIES = 6;
const STALL_MS = 30_000;
/** Each strikes when the player of segments has come so far. */
const FAULTS = ['transcode-1', 'postgres', 'redis', 'api-1', 'worker-1', 'api-2'];

/** The position of one viewer and the positions that the server acknowledged. */
class Viewer {
  readonly machine: Machine;
  readonly session: Session;
  positionMs = 0;
  keptMs = 0;
  reports = 0;
  refused = 0;
  #longestMs = 0;
  #waitingSince: number | undefined;

  constructor(machine: Machine, session: Session) {
    this.machine = machine;
    this.session = session;
  }

  async report(): Promise<void> {
    const positionMs = Math.round(this.positionMs);
    const params = { id: this.session.id };
    const answer = this.machine.owner.reportPlayback({ params, body: { state: 'playing', positionMs } });
    const status = await answer.then(({ status }) => status).catch(() => 0);
    if (status === 200) {
      this.reports += 1;
      this.keptMs = Math.max(this.keptMs, positionMs);
    } else this.refused += 1;
  }

  async reportEverySecond(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.report();
      await sleep(1000);
    }
  }

  waits(): void {
    this.#waitingSince ??= Date.now();
  }

  has(): void {
    this.#longestMs = this.stallMs;
    this.#waitingSince = undefined;
  }

  /** Longest wait for bytes since `calm`, that which lasts included. */
  get stallMs(): number {
    return Math.max(this.#longestMs, Date.now() - (this.#waitingSince ?? Date.now()));
  }

  calm(): void {
    this.#longestMs = 0;
  }

  /** A request to a server that is briefly unreachable is repeated, as hls.js does. */
  async fetched(path: string, headers: Record<string, string> = {}): Promise<Response> {
    let last = '';
    for (let n = 0; n < TRIES; n += 1) {
      if (n > 0) await sleep(1000);
      const response = fetch(this.machine.url + path, { headers: { ...this.machine.headers, ...headers } });
      const answer = await response.catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && answer.status < 500) return answer;
      last = typeof answer === 'string' ? answer : `${answer.status} ${await answer.text().catch(() => '')}`;
    }
    throw new Error(`${path}: ${TRIES} times in vain, at last ${last}`);
  }
}

/** Fetches every list and segment of an encoded session in order; the bytes lie in `got` by their address. */
class SegmentPlayer {
  readonly viewer: Viewer;
  readonly got = new Map<string, Buffer>();
  readonly #base: string;
  done = 0;
  total = 0;

  constructor(viewer: Viewer) {
    this.viewer = viewer;
    this.#base = viewer.session.url.replace(/master\.m3u8.*/, '');
  }

  async play(): Promise<void> {
    const faults: string[] = [];
    const { lists } = parseMaster((await this.#get('master.m3u8')).toString(), faults);
    const media = [];
    for (const { path } of lists) media.push(parseMedia((await this.#get(path)).toString(), path, faults));
    for (const { map } of media) if (map) await this.#get(map);
    this.total = Math.max(...media.map(({ segments }) => segments.length));
    for (let n = 0; n < this.total; n += 1) {
      this.viewer.waits();
      await Promise.all(media.map(({ segments, map }) => this.#segment(segments[n]?.uri, map)));
      this.viewer.has();
      this.viewer.positionMs += 1000 * (media[0]?.segments[n]?.seconds ?? 0);
      this.done = n + 1;
    }
    expect(faults).to.deep.equal([]);
  }

  async #segment(uri: string | undefined, map: string | undefined): Promise<void> {
    if (uri === undefined) return;
    const bytes = await this.#get(uri);
    if (map) expect(samplesOf(this.got.get(map) ?? Buffer.alloc(0), bytes).length, uri).to.be.greaterThan(0);
  }

  async #get(path: string): Promise<Buffer> {
    for (let n = 0; ; n += 1) {
      const answer = await this.viewer.fetched(this.#base + path);
      expect(answer.status, path).to.equal(200);
      const bytes = await answer.arrayBuffer().catch(() => undefined);
      if (!bytes && n < TRIES) continue;
      if (!bytes) throw new Error(`${path} was cut ${TRIES} times`);
      this.got.set(path, Buffer.from(bytes));
      return Buffer.from(bytes);
    }
  }
}

/** Reads a file from its first to its last byte at the pace of `progress`, going on at the byte it has. */
class FilePlayer {
  readonly viewer: Viewer;
  readonly #size: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  cuts = 0;

  constructor(viewer: Viewer, size: number) {
    this.viewer = viewer;
    this.#size = size;
  }

  async play(progress: () => number): Promise<string> {
    for (let idle = 0; this.#bytes < this.#size; ) {
      const before = this.#bytes;
      const whole = await this.#read(progress);
      if (!whole) this.cuts += 1;
      idle = this.#bytes > before ? 0 : idle + 1;
      if (idle > TRIES) throw new Error(`no byte after ${before}`);
    }
    return this.#hash.digest('hex');
  }

  async #read(progress: () => number): Promise<boolean> {
    this.viewer.waits();
    const answer = await this.viewer.fetched(this.viewer.session.url, { range: `bytes=${this.#bytes}-` });
    expect(answer.status).to.equal(206);
    try {
      for await (const chunk of answer.body ?? []) {
        this.viewer.has();
        this.#take(Buffer.from(chunk as Uint8Array));
        await eventually(() => this.#bytes / this.#size <= progress() + 0.01, 120_000);
        this.viewer.waits();
      }
      this.viewer.has();
      return true;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the message of fetch for a connection that was cut
      return false;
    }
  }

  #take(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.viewer.positionMs = ((this.viewer.session.durationMs ?? 0) * this.#bytes) / this.#size;
  }
}

describe('playing through faults', function () {
  this.timeout(240_000);
  const machine = new Machine();
  const films = { 'Trailer Park (2001).mp4': 'bbb_trailer_720p.mp4', 'Big Buck Bunny (2008).mp4': 'bbb_full_720p.mp4' };
  let ids: Map<string, string>;

  before(async () => {
    const { real } = await fixtures();
    for (const [name, from] of Object.entries(films))
      copyFileSync(join(real, 'video', from), join(machine.films, name));
    await machine.start();
    const id = await machine.addLibrary();
    const items = await eventually(async () => {
      const { body } = await machine.owner.listLibraryItems({ params: { id } });
      return body.items.length === 2 && body.items;
    }, 60_000);
    ids = new Map(items.map((item) => [item.title, item.id]));
  });
  after(async () => machine.stop());

  const begin = async (title: string, body: Record<string, unknown>): Promise<Session> => {
    const params = { id: ids.get(title) ?? '' };
    const answer = await machine.owner.startPlayback({ params, body: { startMs: 0, ...body } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.session;
  };

  /** Copying is too quick to be struck in the middle. */
  const beginEncoded = async (): Promise<Session> => {
    const allow = { directPlay: false, directStream: false };
    const session = await begin('Trailer Park', { client: { builtIn: 'hls' }, allow });
    expect(session.decision).to.deep.include({ method: 'transcode' });
    expect(session.decision.video?.action).to.equal('encode');
    return session;
  };

  const beginDirect = async (): Promise<Session> => {
    const [video, audio] = [[{ codec: 'h264' }], [{ codec: 'aac', maxChannels: 8 }]];
    const session = await begin('Big Buck Bunny', { client: { direct: [{ containers: ['mp4'], video, audio }] } });
    expect(session.decision.method).to.equal('direct_play');
    return session;
  };

  /** The position that was acknowledged before the call is stored, or a later one. */
  const expectKept = async (viewer: Viewer, after: string): Promise<void> => {
    const { keptMs, session } = viewer;
    const { body } = await machine.owner.getPlaybackSession({ params: { id: session.id } });
    expect(body.positionMs, `session after ${after}`).to.be.at.least(keptMs);
    const { body: item } = await machine.owner.getItemProgress({ params: { id: session.itemId } });
    const due = keptMs >= 60_000 && !item.watched; // films keep none from the first minute
    expect(item.positionMs, `item after ${after}`).to.be.at.least(due ? keptMs : 0);
  };

  it('continues to the end, and keeps every acknowledged position', async () => {
    const [encoded, direct] = [
      new Viewer(machine, await beginEncoded()),
      new Viewer(machine, await beginDirect()),
    ] as const;
    const big = join(machine.films, 'Big Buck Bunny (2008).mp4');
    const [segments, file] = [new SegmentPlayer(encoded), new FilePlayer(direct, statSync(big).size)];
    const done = new AbortController();
    const reporting = [encoded, direct].map((viewer) => viewer.reportEverySecond(done.signal));

    const strikeAll = async (): Promise<void> => {
      for (const [n, name] of FAULTS.entries()) {
        await eventually(() => segments.done > (segments.total * n) / FAULTS.length, 120_000);
        for (const viewer of [encoded, direct]) viewer.calm();
        const [at, kept] = [segments.done, [encoded.keptMs, direct.keptMs]];
        const healed = await machine.strike(name);
        await eventually(() => segments.done > at || segments.done === segments.total, STALL_MS);
        const stalls = [encoded.stallMs, direct.stallMs];
        print(
          `${name} at segment ${at} of ${segments.total}: healed ${healed} ms, longest waits ${stalls.join(' and ')} ms`,
        );
        for (const [i, viewer] of [encoded, direct].entries()) {
          expect(viewer.keptMs).to.be.at.least(kept[i] ?? 0);
          await expectKept(viewer, name);
        }
        expect(Math.max(...stalls), name).to.be.below(STALL_MS);
      }
    };
    try {
      const progress = () => segments.done / Math.max(1, segments.total);
      const [sum] = await Promise.all([file.play(progress), segments.play(), strikeAll()]);
      expect(sum).to.equal(createHash('sha256').update(readFileSync(big)).digest('hex'));
    } finally {
      done.abort();
      await Promise.all(reporting);
    }
    for (const [name, viewer] of Object.entries({ encoded, direct })) {
      await viewer.report();
      await expectKept(viewer, 'the end');
      print(`${name}: ${viewer.reports} reports kept, ${viewer.refused} refused`);
      expect(viewer.keptMs).to.equal(Math.round(viewer.positionMs));
    }
    print(`direct: cut ${file.cuts} times`);
    await expectWhole(segments);
  });

  async function expectWhole({ got, viewer }: SegmentPlayer): Promise<void> {
    const read = async (path: string): Promise<Buffer> => got.get(path) ?? Buffer.alloc(0);
    const report = await validateHls(read, { durationMs: viewer.session.durationMs ?? 0 });
    expect(report.faults).to.deep.equal([]);
    for (const { init, segments } of report.renditions) {
      const bytes = segments.map(({ uri }) => got.get(uri) ?? Buffer.alloc(0));
      const args = ['-v', 'error', '-f', 'mp4', '-i', 'pipe:0', '-f', 'null', '-'];
      await tool('ffmpeg', args, Buffer.concat([init, ...bytes]));
    }
  }
});
