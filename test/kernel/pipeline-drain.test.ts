import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { writeKeys } from '#support/keys.ts';
import { atEnd, eventually, freePort, newDatabase, redisUrl, temporaryFolder } from '#support/stores.ts';

const MAIN = new URL('../../api/main.ts', import.meta.url).pathname;

describe('drain of a real process', function () {
  this.timeout(60_000);
  let environment: Record<string, string>;
  let url: string;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    const folder = temporaryFolder('drain');
    const port = await freePort();
    url = `http://127.0.0.1:${port}/api/v1`;
    environment = {
      FOYER_DATABASE_URL: await newDatabase(),
      FOYER_REDIS_URL: await redisUrl(),
      FOYER_OBJECTS_URL: `file://${folder}/objects`,
      FOYER_KEYS_FILE: join(folder, 'keys.json'),
      FOYER_SCRATCH_DIR: folder,
      FOYER_LOG_LEVEL: 'silent',
      FOYER_DRAIN_MS: '1500',
      FOYER_PORT: String(port),
    };
    await writeKeys(join(folder, 'keys.json'));
  });
  const end = (): void => {
    for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  };
  afterEach(end);
  before(() => atEnd(end));

  const get = (path: string, agent: Agent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request(url + path, { agent }, resolve)
        .on('error', reject)
        .end();
    });
  const send = async (path: string, agent: Agent): Promise<{ status: number; connection: string; body: string }> => {
    const answer = await get(path, agent);
    return { status: answer.statusCode ?? 0, connection: answer.headers.connection ?? '', body: await text(answer) };
  };
  const startApi = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [MAIN], { env: { ...process.env, ...environment }, stdio: 'inherit' });
    children.push(child);
    return child;
  };
  const ready = (): Promise<unknown> =>
    eventually(async () => {
      const agent = new Agent();
      return send('/server/ready', agent).then(
        ({ status }) => status === 200,
        () => false,
      );
    }, 30_000);

  it('is unready at once, continues to serve, closes kept connections, and ends well', async () => {
    const child = await startApi();
    await ready();
    const exit = once(child, 'exit');
    const agents = [
      new Agent({ keepAlive: true, maxSockets: 1 }),
      new Agent({ keepAlive: true, maxSockets: 1 }),
    ] as const;
    for (const agent of agents) expect((await send('/server/ready', agent)).connection).to.not.equal('close');
    child.kill('SIGTERM');
    const began = Date.now();
    const unready = await eventually(async () => {
      const answer = await send('/server/ready', new Agent());
      return answer.status !== 200 && answer;
    }, 1000);
    expect(unready.status).to.equal(503);
    expect(unready.body).to.include('draining');
    expect(unready.connection).to.equal('close');
    const served = await send('/server/info', agents[0]);
    expect([served.status, served.connection]).to.deep.equal([200, 'close']);
    expect(Date.now() - began, 'the pause was long enough to see it').to.be.lessThan(1500);
    expect(await exit).to.deep.equal([0, null]);
    for (const agent of agents) agent.destroy();
  });

  it('fails no request of clients that keep their connections while one of two processes ends', async () => {
    const first = await startApi();
    await ready();
    await startApi();
    await sleep(4000); // no event announces a second listener on the port
    const failed: string[] = [];
    let sent = 0;
    const done = new AbortController();
    const client = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!done.signal.aborted) {
        sent += 1;
        await send('/server/info', agent).then(
          ({ status }) => status === 200 || failed.push(String(status)),
          (error: unknown) => failed.push(String(error)),
        );
        await sleep(20);
      }
      agent.destroy();
    };
    const clients = Array.from({ length: 12 }, client);
    await sleep(500);
    const exit = once(first, 'exit');
    first.kill('SIGTERM');
    const [code] = (await exit) as [number | null];
    await sleep(300);
    done.abort();
    await Promise.all(clients);
    expect(code).to.equal(0);
    expect(failed).to.deep.equal([]);
    expect(sent).to.be.greaterThan(100);
  });
});
