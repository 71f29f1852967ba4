// Events to open streams against a bare write loop, with the same client in one run. PERFORMANCE row 10.
//   node hack/bench/events.ts [streams, 10000 when absent]
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signAccessToken } from '#kernel/credentials.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { type Api, startApi } from '#support/api.ts';
import { endAll, freePort, temporaryFolder } from '#support/stores.ts';
import { machine, median, started } from './measure.ts';

const STREAMS = Number(process.argv[2] ?? 10_000);
const EVENTS = 20;
const PAIRS = 3;
const OF_SESSION = 4;
const OF_ACCOUNT = 48;

const BARE = `import { createServer } from 'node:http';
const open = new Set();
createServer((request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 3000\\n\\n');
    open.add(response);
    return;
  }
  const block = 'id: x\\nevent: e\\ndata: ' + JSON.stringify({ mark: request.url.slice(1), pad: 'x'.repeat(120) }) + '\\n\\n';
  for (const stream of open) stream.write(block);
  response.end();
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('up'));`;

const rssKb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Sockets that follow a stream, and when each heard a mark. */
class Crowd {
  readonly #sockets: Socket[] = [];
  #mark = '';
  #times: number[] = [];
  #all: () => void = () => undefined;

  async open(port: number, headersOf: (i: number) => Record<string, string>): Promise<void> {
    const path = '/api/v1/events';
    for (let i = 0; i < STREAMS; i += 100)
      await Promise.all(Array.from({ length: 100 }, (_, j) => this.#one(port, { path, headers: headersOf(i + j) })));
  }

  async #one(port: number, { path, headers }: { path: string; headers: Record<string, string> }): Promise<void> {
    const socket = connect(port, '127.0.0.1');
    this.#sockets.push(socket);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const url = Object.keys(headers).length > 0 ? `${path}?types=settings.changed` : '/events';
    socket.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`);
    await new Promise<void>((resolve, reject) => {
      socket.on('data', (chunk) => {
        const text = chunk.toString('latin1');
        if (text.includes('retry: 3000')) resolve();
        else if (text.startsWith('HTTP/1.1 4') || text.startsWith('HTTP/1.1 5')) reject(new Error(text.slice(0, 400)));
        if (this.#mark && text.includes(this.#mark)) this.#heard();
      });
      socket.on('error', reject);
    });
  }

  #heard(): void {
    this.#times.push(performance.now());
    if (this.#times.length === this.#sockets.length) this.#all();
  }

  /** Milliseconds from saying it to each of the crowd. */
  async hear(say: (mark: string) => Promise<unknown>): Promise<number[]> {
    this.#mark = randomUUID();
    this.#times = [];
    const all = new Promise<void>((resolve) => {
      this.#all = resolve;
    });
    const began = performance.now();
    await say(this.#mark);
    await all;
    return this.#times.map((at) => at - began);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Sessions enough for that many streams, by SQL. */
async function sessions({ deps: { db, keys } }: Api): Promise<string[]> {
  const tokens: string[] = [];
  for (let account = 0; tokens.length * OF_SESSION < STREAMS; account += 1) {
    const [accountId, profileId] = [newId(), newId()];
    const name = `bench-${account}`;
    const row = { id: accountId, username: name, username_folded: name, display_name: name, role: 'admin' };
    await db('accounts').insert(row);
    await db('profiles').insert({ id: profileId, account_id: accountId, name, main: true });
    for (let i = 0; i < OF_ACCOUNT / OF_SESSION; i += 1) {
      const sessionId = newId();
      const times = { expires_at: new Date(Date.now() + 86_400_000) };
      await db('sessions').insert({
        id: sessionId,
        account_id: accountId,
        profile_id: profileId,
        method: 'password',
        ...times,
      });
      tokens.push(await signAccessToken(keys, { accountId, profileId, sessionId }, new Date()));
    }
  }
  return tokens;
}

const percentile = (times: number[], part: number): number =>
  times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN;

async function p99(crowd: Crowd, say: (mark: string) => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < EVENTS; i += 1) {
    all.push(...(await crowd.hear(say)));
    await sleep(50);
  }
  return percentile(all, 0.99);
}

const api = await startApi();
const tokens = await sessions(api);
const file = join(process.cwd(), 'hack/bench', `.bare-${process.pid}.mjs`);
writeFileSync(file, BARE);
const [barePort, port] = [await freePort(), await freePort()];
const bare = await started([file, String(barePort)], {}, 'up');
const { config } = api;
const ours = await started(
  ['api/main.ts'],
  {
    FOYER_DATABASE_URL: config.databaseUrl,
    FOYER_REDIS_URL: config.redisUrl,
    FOYER_OBJECTS_URL: config.objectsUrl,
    FOYER_KEYS_FILE: config.keysFile,
    FOYER_PORT: String(port),
    FOYER_SCRATCH_DIR: temporaryFolder('bench'),
  },
  'listening',
);
const before = { ours: rssKb(ours), bare: rssKb(bare) };
const [mine, theirs] = [new Crowd(), new Crowd()];
await theirs.open(barePort, () => ({}));
await mine.open(port, (i) => ({ authorization: `Bearer ${tokens[Math.floor(i / OF_SESSION)]}` }));
const kbEach = (pid: number, was: number): string => ((rssKb(pid) - was) / STREAMS).toFixed(1);
const memory = { ours: kbEach(ours, before.ours), bare: kbEach(bare, before.bare) };

const sayOurs = (mark: string) => emit(api.deps.db, 'settings.changed', { payload: { keys: [mark, 'x'.repeat(60)] } });
const sayBare = (mark: string) => fetch(`http://127.0.0.1:${barePort}/${mark}`);
const ratios: number[] = [];
const band: number[] = [];
const seen = { ours: [] as number[], bare: [] as number[] };
for (let pair = 0; pair < PAIRS; pair += 1) {
  const a = await p99(theirs, sayBare);
  const b = await p99(mine, sayOurs);
  const c = await p99(theirs, sayBare);
  ratios.push((2 * b) / (a + c));
  band.push(a / c);
  seen.ours.push(b);
  seen.bare.push(a, c);
}
console.log(`\nEvents to ${STREAMS} open streams of one process, ${EVENTS} events, ${PAIRS} pairs. ${machine()}\n`);
console.log('| what | ours | bare write loop | ratio | bare against bare | target |\n| - | -: | -: | -: | -: | - |');
const times = [median(seen.ours), median(seen.bare)].map((ms) => `${ms.toFixed(0)} ms`);
console.log(
  `| commit to client, p99 | ${times.join(' | ')} | ${median(ratios).toFixed(2)} | ${median(band).toFixed(2)} | ≤ 1.5 |`,
);
console.log(`| memory a stream | ${memory.ours} kB | ${memory.bare} kB | | | ≤ 16 kB |`);
mine.close();
theirs.close();
rmSync(file);
await endAll();
process.exit(0);
