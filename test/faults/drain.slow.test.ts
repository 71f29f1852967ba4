// The API processes are replaced one after the other under load: no request fails.
import { createHash } from 'node:crypto';
import { copyFileSync, createReadStream } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '#support/stores.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { Machine, print } from './machine.ts';

const CONNECTIONS = 8;
const RATE = 50;
const ROUNDS = 3;
const LONG_MS = 5000;

interface Load {
  sent: number;
  failed: string[];
  connections: number;
}

describe('draining', function () {
  this.timeout(180_000);
  const machine = new Machine();
  let file = '';
  let library = '';

  before(async () => {
    const { real } = await fixtures();
    copyFileSync(join(real, 'video', 'bbb_full_720p.mp4'), join(machine.films, 'Big Buck Bunny (2008).mp4'));
    await machine.start();
    library = await machine.addLibrary();
    const [film] = await eventually(async () => {
      const { body } = await machine.owner.listLibraryItems({ params: { id: library } });
      return body.items.length > 0 && body.items;
    }, 60_000);
    file = (await machine.owner.getItem({ params: { id: film?.id ?? '' } })).body.files[0]?.id ?? '';
  });
  after(async () => machine.stop());

  /**
   * As any HTTP client: a request that a kept connection did not take, since the server closed it meanwhile, is sent on
   * another.
   */
  const get = (path: string, agent: Agent, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { agent, headers: { ...machine.headers, ...headers } };
      const sent = request(`${machine.url}/api/v1${path}`, options, resolve);
      sent.on('error', (error) => {
        if (sent.reusedSocket) resolve(get(path, agent, headers));
        else reject(error);
      });
      sent.end();
    });

  async function send(agent: Agent, load: Load): Promise<void> {
    const paths = ['/libraries', `/libraries/${library}/items`, '/server/ready', '/playback/sessions'];
    const path = paths[load.sent % paths.length] ?? '';
    load.sent += 1;
    try {
      const answer = await get(path, agent);
      for await (const _ of answer);
      // A process that leaves reports so to its readiness probe; that is no failure.
      const leaving = path === '/server/ready' && answer.statusCode === 503;
      if (answer.statusCode !== 200 && !leaving) load.failed.push(`${path}: ${answer.statusCode}`);
    } catch (error) {
      load.failed.push(`${path}: ${String(error)}`);
    }
  }

  async function keepAsking(load: Load, until: AbortSignal): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connections = new Set<unknown>();
    agent.on('free', (socket) => connections.add(socket));
    let due = Date.now();
    while (!until.aborted) {
      await send(agent, load);
      due += (1000 * CONNECTIONS) / RATE;
      await sleep(Math.max(0, due - Date.now()));
    }
    load.connections += connections.size;
    agent.destroy();
  }

  /** Reads all from the byte `from` at a pace that takes about `LONG_MS`. */
  async function readSlowly(from: number): Promise<string> {
    const agent = new Agent();
    const answer = await get(`/files/${file}/stream`, agent, { range: `bytes=${from}-` });
    expect(answer.statusCode).to.equal(206);
    const size = Number(answer.headers['content-length']);
    const hash = createHash('sha256');
    const began = Date.now();
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      const due = began + (LONG_MS * bytes) / size - Date.now();
      if (due > 20) await sleep(due);
    }
    expect(bytes).to.equal(size);
    return hash.digest('hex');
  }

  async function sumFrom(from: number): Promise<string> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(join(machine.films, 'Big Buck Bunny (2008).mp4'), { start: from }))
      hash.update(chunk as Buffer);
    return hash.digest('hex');
  }

  it('fails no request and cuts no download, however often', async () => {
    const done = new AbortController();
    const load: Load = { sent: 0, failed: [], connections: 0 };
    const began = Date.now();
    const asking = Array.from({ length: CONNECTIONS }, () => keepAsking(load, done.signal));
    const downloads: Promise<string>[] = [];
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const name of ['api-1', 'api-2']) {
          const pair = [readSlowly(1000), readSlowly(1000)]; // most likely one at each process
          downloads.push(...pair);
          await sleep(500);
          const took = await machine.strike(name, 'SIGTERM');
          print(`${name}: replaced in ${took} ms, ${load.sent} requests, ${load.failed.length} failed`);
          await Promise.all(pair);
        }
      }
    } finally {
      done.abort();
      await Promise.all(asking);
    }
    const seconds = (Date.now() - began) / 1000;
    print(`${load.sent} requests in ${seconds.toFixed()} s on ${load.connections} connections`);
    expect(load.failed).to.deep.equal([]);
    expect(load.connections).to.be.greaterThan(CONNECTIONS);
    expect(new Set(await Promise.all(downloads))).to.deep.equal(new Set([await sumFrom(1000)]));
  });
});
