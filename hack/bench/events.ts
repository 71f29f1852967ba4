// Events to open streams against a bare write loop, with the same client in one run.
//   node hack/bench/events.ts [streams, 10000 when absent]
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signAccessToken } from '#identity/credentials.ts';
import { NODE_OPTIONS } from '#operator/server-environment.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { type Api, startApi } from '#support/api.ts';
import { startApiProcess, started } from '#support/processes.ts';
import { endAll, freePort } from '#support/stores.ts';
import type { Opening } from './crowd.ts';
import { machine, median, monotonicMs } from './measure.ts';

const STREAMS = Number(process.argv[2] ?? 10_000);
const EVENTS = 10;
const PAIRS = 3;
const WARM = 500;
const REST_MS = 5000;
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

/** Clients of one server in a process of their own, which has limits of its own for open files. */
class Crowd {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'crowd.ts'), { stdio: 'inherit' });
    process.once('exit', () => this.#child.kill('SIGKILL'));
  }

  async open(opening: Opening): Promise<void> {
    await this.#send({ open: opening });
  }

  /** Milliseconds from the mark to each client. */
  async hear(say: (mark: string) => Promise<unknown>): Promise<number[]> {
    const mark = randomUUID();
    await this.#send({ mark });
    const began = monotonicMs();
    const [heard] = await Promise.all([this.#answer<number[]>(), say(mark)]);
    return heard.map((at) => at - began);
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  #send(message: object): Promise<unknown> {
    const answer = this.#answer();
    this.#child.send(message);
    return answer;
  }

  async #answer<T>(): Promise<T> {
    const [message] = (await once(this.#child, 'message')) as [{ error?: string; answer: T }];
    if (message.error) throw new Error(message.error);
    return message.answer;
  }
}

/** Enough sessions for that many streams, by SQL. */
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
const barePort = await freePort();
const bare = await started([file, String(barePort)], { NODE_OPTIONS }, 'up');
const { pid: ours, port } = await startApiProcess(api, { NODE_OPTIONS });
const [mine, theirs] = [new Crowd(), new Crowd()];
const all = { ours: { port, tokens, of: OF_SESSION }, bare: { port: barePort, tokens: [], of: 1 } };
await Promise.all([theirs.open({ ...all.bare, streams: WARM }), mine.open({ ...all.ours, streams: WARM })]);
await sleep(REST_MS); // the first requests load and compile code, which does not belong to a stream
const before = { ours: rssKb(ours), bare: rssKb(bare) };
await theirs.open({ ...all.bare, streams: STREAMS - WARM });
await mine.open({ ...all.ours, streams: STREAMS - WARM });
await sleep(REST_MS);
const kbEach = (pid: number, was: number): string => ((rssKb(pid) - was) / (STREAMS - WARM)).toFixed(1);
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
