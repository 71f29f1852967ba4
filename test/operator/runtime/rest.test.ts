import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Credentials } from '#operator/runtime/credentials.ts';
import { Deposed, Refusal, refusalOf, Unreached } from '#operator/runtime/faults.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';
import { FakeApiServer } from './fake-api-server.ts';

const PATH = '/api/v1/namespaces/default/configmaps/x';

describe('requests to the API server', () => {
  let server: FakeApiServer;
  let credentials: Credentials;
  let rest: Rest;
  let leads = true;

  beforeEach(async () => {
    leads = true;
    server = await new FakeApiServer().start();
    credentials = new Credentials(server.kubeconfig());
    const fence = (): void => {
      if (!leads) throw new Deposed('not the leader');
    };
    rest = new Rest({ credentials, metrics: newMetrics(), fence });
  });

  afterEach(async () => {
    rest.close();
    await server.stop();
  });

  const write = () => rest.write({ method: 'PATCH', path: PATH, body: {} });
  const list = () => rest.read({ method: 'GET', path: '/api/v1/configmaps' });

  it('share one connection, also when credentials are read again', async () => {
    for (let i = 0; i < 200; i++) {
      await write();
      credentials.forget();
    }
    expect(server.connections.size).to.equal(1);
    await Promise.all(Array.from({ length: 8 }, write));
    expect(server.connections.size).to.be.at.most(8);
  });

  it('are not sent by a process that is not the leader, on a new connection or a kept one', async () => {
    leads = false;
    const first: unknown = await write().catch((error: unknown) => error);
    leads = true;
    await write();
    leads = false;
    const second: unknown = await write().catch((error: unknown) => error);
    expect([first, second].map((fault) => fault instanceof Deposed)).to.deep.equal([true, true]);
    expect(server.count(/^PATCH/)).to.equal(1);
    await list(); // to look is allowed
  });

  it('are checked by the fence when they go out, not when they are queued', async () => {
    server.refuse({ status: 429, headers: { 'Retry-After': '1' } });
    await list().catch(() => undefined);
    const waiting = write().catch((error: unknown) => error);
    leads = false; // while it waits
    expect(await waiting).to.be.instanceOf(Deposed);
    expect(server.count(/^PATCH/)).to.equal(0);
  });

  it('all wait when the API server requests a pause, but for those that are urgent', async () => {
    server.refuse({ status: 429, headers: { 'Retry-After': '1' } });
    const fault: unknown = await list().catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(Refusal).and.to.include({ status: 429, retryAfterMs: 1000 });
    const began = performance.now();
    await Promise.all([
      rest.read({ method: 'GET', path: PATH, urgent: true }).then(() => performance.now()),
      write().then(() => performance.now()),
    ]).then(([urgent, other]) => {
      expect(other - began).to.be.at.least(999);
      expect(urgent).to.be.below(other);
    });
  });

  it('fall by more than four fifths where half of the answers request a pause, and come back', async () => {
    const loops = { end: false };
    const hammer = async (): Promise<void> => {
      while (!loops.end) await write().catch(() => undefined);
    };
    const perSecond = async (ms: number): Promise<number> => {
      const before = server.requests.length;
      await sleep(ms);
      return ((server.requests.length - before) * 1000) / ms;
    };
    const all = Array.from({ length: 8 }, hammer);
    const free = await perSecond(500);
    server.calmEach = 2;
    const requests = await perSecond(3000);
    server.calmEach = undefined;
    await sleep(2000); // the requested pause
    const after = await perSecond(500);
    loops.end = true;
    await Promise.all(all);
    expect([requests < free / 5, after > free / 5], `${free}, ${requests}, ${after} a second`).to.deep.equal([
      true,
      true,
    ]);
  });

  it('are bounded by the API server itself, so that no write outlives the lease', async () => {
    await write();
    expect(server.requests.at(-1)?.query.get('timeout')).to.equal('5s');
  });

  it('continue over a connection that was closed while it was unused, and no other', async () => {
    await write();
    server.hangUps = 1;
    await write();
    expect(server.count(/^PATCH/)).to.equal(3);
    server.hangUps = 2;
    expect(await write().catch((error: unknown) => error)).to.be.instanceOf(Unreached);
  });

  it('distinguish an unreachable API server from one that refuses', async () => {
    await server.leave();
    expect(await write().catch((error: unknown) => error)).to.be.instanceOf(Unreached);
  });

  it("repeat no part of the API server's answer about a Secret", () => {
    const body = JSON.stringify({ kind: 'Status', reason: 'Invalid', message: 'data: "hunter2" is wrong' });
    expect(refusalOf('/api/v1/namespaces/a/secrets/b', 422, { body }).message).to.equal('422 Invalid');
    expect(refusalOf('/api/v1/namespaces/a/services/b', 422, { body }).message).to.contain('is wrong');
  });
});
