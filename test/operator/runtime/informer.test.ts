import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { Caches } from '#operator/runtime/caches.ts';
import { Credentials } from '#operator/runtime/credentials.ts';
import { Discovery } from '#operator/runtime/discovery.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics } from '#operator/runtime/metrics.ts';
import { Rest } from '#operator/runtime/rest.ts';
import { FakeApiServer } from './fake-api-server.ts';

async function eventually(holds: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 10_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not so in time: ${what}`);
    await sleep(10);
  }
}

describe('informer', () => {
  let server: FakeApiServer;
  let followers: { stop(): Promise<void> }[] = [];

  beforeEach(async () => {
    server = await new FakeApiServer().start();
    server.set('a', { n: '1' });
    server.set('b', { n: '1' });
  });

  afterEach(async () => {
    await Promise.all(followers.map((follower) => follower.stop()));
    followers = [];
    await server.stop();
  });

  async function follow(options: { idleMs?: number; absentMs?: number; changed?: (object: KubeObject) => void } = {}) {
    const metrics = newMetrics();
    const rest = new Rest({ credentials: new Credentials(server.kubeconfig()), metrics });
    const absent = options.absentMs === undefined ? {} : { absentMs: options.absentMs };
    const log = pino({ level: 'silent' });
    const deps = { rest, metrics, log, idleMs: options.idleMs ?? 60_000, pauseMs: 20, ...absent };
    const changed = options.changed ?? (() => undefined);
    const watches = [{ apiVersion: 'v1', kind: 'ConfigMap' }];
    const caches = new Caches(deps, { namespaces: [], watches, discovery: new Discovery(rest), changed });
    followers.push({
      stop: async () => {
        await caches.stop();
        rest.close();
      },
    });
    caches.start();
    await caches.synced();
    const data = (name: string) => caches.get('ConfigMap', 'default', name)?.data as { n: string } | undefined;
    const [informer] = caches.informers();
    if (!informer) throw new Error('one informer');
    const restarts = async (reason: string) =>
      (await metrics.restarts.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
    return { caches, data, informer, restarts };
  }

  const watching = () => eventually(() => server.watchers === 1, 'it watches');

  it('lists, then follows additions, changes and deletions', async () => {
    const { data, caches } = await follow();
    await watching();
    server.set('c', { n: '1' });
    server.set('a', { n: '2' });
    server.delete('b');
    await eventually(() => data('c')?.n === '1' && data('a')?.n === '2' && !data('b'), 'all three changes');
    expect(caches.list('ConfigMap', '')).to.have.length(2);
    expect(server.count(/^GET list/)).to.equal(1);
  });

  it('keeps neither managedFields nor the record of kubectl apply', async () => {
    const { caches } = await follow();
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' };
    server.set('d', { n: '1' }, { annotations: applied });
    await eventually(() => caches.get('ConfigMap', 'default', 'd') !== undefined, 'it is there');
    for (const name of ['a', 'd'])
      expect(caches.get('ConfigMap', 'default', name)?.metadata).to.not.have.property('managedFields');
    expect(caches.get('ConfigMap', 'default', 'd')?.metadata.annotations).to.deep.equal({ kept: 'yes' });
  });

  it('lists again when its version has expired, and drops objects that were deleted meanwhile', async () => {
    const { data, restarts } = await follow();
    await watching();
    server.set('a', { n: '2' }, { notify: false });
    server.delete('b', false);
    server.sendError(410, 'Expired');
    await eventually(() => data('a')?.n === '2' && !data('b'), 'the state after the list');
    expect(server.count(/^GET list/)).to.equal(2);
    expect(await restarts('expired')).to.equal(1);
  });

  it('lists again after any other ERROR event', async () => {
    const { data, restarts } = await follow();
    await watching();
    server.set('a', { n: '2' }, { notify: false });
    server.sendError(500, 'InternalError');
    await eventually(() => data('a')?.n === '2', 'the change');
    expect(await restarts('refused')).to.equal(1);
  });

  for (const way of ['endWatches', 'cutWatches'] as const)
    it(`continues where it was after ${way}, without a list`, async () => {
      const { data } = await follow();
      await watching();
      server[way]();
      server.set('a', { n: '2' });
      await eventually(() => data('a')?.n === '2', 'the change');
      expect(server.count(/^GET list/)).to.equal(1);
    });

  it('continues after half a line', async () => {
    const { data } = await follow();
    await watching();
    server.send('{"type":"MODIFIED","obj');
    server.endWatches();
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
  });

  it('leaves a silent connection', async () => {
    const { data, restarts } = await follow({ idleMs: 300 });
    await watching();
    server.sendBookmark();
    await sleep(50);
    server.forgetWatches();
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
    expect(await restarts('connection')).to.be.at.least(1);
  });

  it('sends nothing for as long as Retry-After requires', async () => {
    const { data } = await follow();
    await watching();
    server.refuse({ status: 429, headers: { 'Retry-After': '1' } });
    server.cutWatches();
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
    const [refused, next] = server.requests.slice(-2);
    expect(server.count(/^GET list/)).to.equal(1);
    expect((next?.at ?? 0) - (refused?.at ?? 0)).to.be.at.least(1000);
  });

  it('pauses longer with each fault in a row', async () => {
    const { data } = await follow();
    await watching();
    const before = server.requests.length;
    server.refuse(...Array.from({ length: 5 }, () => ({ status: 503 })));
    server.cutWatches();
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
    const times = server.requests.slice(before).map(({ at }) => at);
    const pauses = times.slice(1, 6).map((at, index) => at - (times[index] ?? 0));
    expect(pauses.at(-1)).to.be.above(pauses[0] ?? 0);
    expect(pauses.at(-1)).to.be.at.least(20 * 8 * 0.75);
  });

  it('takes a new token when the old one is refused', async () => {
    const { data } = await follow();
    await watching();
    server.token = 'second';
    writeFileSync(server.tokenFile, 'second');
    server.cutWatches();
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
  });

  it('survives a listener that throws', async () => {
    let faults = 0;
    const changed = ({ data }: KubeObject): void => {
      if ((data as { n: string }).n === '2' && faults++ === 0) throw new Error('a fault of ours');
    };
    const { data, restarts } = await follow({ changed });
    await watching();
    server.set('a', { n: '2' });
    await eventually(() => server.count(/^GET list/) === 2, 'a new list');
    server.set('b', { n: '3' });
    await eventually(() => data('b')?.n === '3', 'the change after it');
    expect(await restarts('malformed')).to.equal(1);
  });

  it('forgets the objects of a kind that is not served any more', async () => {
    const { caches } = await follow();
    await watching();
    expect(caches.served('ConfigMap')).to.equal(true);
    server.served = false;
    server.sendError(410, 'Expired');
    await eventually(() => !caches.served('ConfigMap'), 'it is not served');
    expect(caches.list('ConfigMap', '')).to.deep.equal([]);
  });

  it('looks for a kind that is not served ever more rarely, and follows it once it is', async () => {
    server.served = false;
    const { caches, data, informer } = await follow({ absentMs: 100 });
    await eventually(() => server.count(/^GET .api.v1$/) === 4, 'it sent four requests');
    const times = server.requests.filter(({ what }) => what === 'GET /api/v1').map(({ at }) => at);
    const [first = 0, , , last = 0] = times;
    expect(last - first).to.be.at.least(0.75 * (100 + 200 + 400) - 5);
    await sleep(200);
    expect([informer.stalenessMs(), informer.stuckMs()], 'a pause on purpose').to.deep.equal([0, 0]);
    server.served = true;
    await eventually(() => caches.served('ConfigMap') && data('a')?.n === '1', 'it is followed');
  });

  it('looks rarely for one that is no longer needed', async () => {
    server.served = false;
    const { informer } = await follow({ absentMs: 100 });
    const seeking = setInterval(() => informer.seek(), 10);
    await eventually(() => server.count(/^GET .api.v1$/) === 8, 'it sent eight requests, which would take 12 s');
    clearInterval(seeking);
  });

  it('counts an accepted watch as a sign of life of a kind without bookmarks', async () => {
    const { data, informer, restarts } = await follow({ idleMs: 400 });
    let oldest = 0;
    const looking = setInterval(() => {
      oldest = Math.max(oldest, informer.stalenessMs());
    }, 5);
    await eventually(() => server.count(/^GET watch/) === 10, 'ten watches of which each was silent');
    clearInterval(looking);
    expect(oldest, 'never older than a few silent watches').to.be.below(1600);
    expect(await restarts('quiet')).to.be.at.least(8);
    expect(await restarts('connection'), 'no fault').to.equal(0);
    expect(server.count(/^GET list/), 'it goes on where it was').to.equal(1);
    server.set('a', { n: '2' });
    await eventually(() => data('a')?.n === '2', 'the change');
  });

  it('counts nothing but objects and bookmarks of a kind that has them', async () => {
    const { informer, restarts } = await follow({ idleMs: 100 });
    await watching();
    server.sendBookmark();
    const before = server.requests.length;
    await eventually(() => server.requests.length >= before + 3, 'it lost three silent watches');
    expect(informer.stalenessMs()).to.be.at.least(250);
    expect(await restarts('connection')).to.be.at.least(2);
  });

  it('grows stale while the API server takes no watch', async () => {
    const { informer } = await follow({ idleMs: 100 });
    await watching();
    await server.leave();
    await sleep(500);
    expect(informer.stalenessMs()).to.be.at.least(400);
  });

  it('reports how long the watch was silent', async () => {
    const { informer } = await follow();
    await watching();
    server.forgetWatches();
    await sleep(150);
    expect(informer.stalenessMs()).to.be.at.least(140);
    expect(informer.synced).to.equal(true);
  });
});
