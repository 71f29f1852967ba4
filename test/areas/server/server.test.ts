import { renameSync } from 'node:fs';
import { expect } from 'chai';
import { connectDatabase, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { ALIVE, enqueue } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { createPulse, createVitals } from '#platform/vitals.ts';
import { type Api, startApi } from '#support/api.ts';
import { atEnd, eventually } from '#support/stores.ts';

describe('Server', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  it('shows an anonymous caller the product, and the full version only to callers with a credential', async () => {
    const stranger = await api.anyone.getServerInfo();
    expect(stranger.status).to.equal(200);
    expect(stranger.body).to.include({ product: 'Foyer', apiVersion: 'v1', setupComplete: false });
    expect(stranger.body.version).to.match(/^\d+\.\d+$/);
    const admin = api.as(await api.given.admin());
    const full = async () => /^\d+\.\d+\.\d+/.test((await admin.getServerInfo()).body.version);
    expect(await eventually(full)).to.equal(true); // the answer waits for no store, and this machine may be slow
  });

  it('reports that the setup is complete as soon as another process completed it', async () => {
    const own = await startApi();
    const state = async () => (await own.anyone.getServerInfo()).body.setupComplete;
    expect(await state()).to.equal(false);
    await own.deps.db('server_state').update({ setup_completed_at: new Date() });
    const known = async () => (await state()) !== undefined; // left out while the database is slow
    await eventually(known);
    expect(await state()).to.not.equal(false);
    expect(await eventually(state)).to.equal(true);
  });

  it('has an ETag for its content, whatever the time', async () => {
    const get = async (etag = '') => api.fetch('/api/v1/server/info', { headers: { 'if-none-match': etag } });
    const first = await get();
    expect([first.status, first.headers.get('cache-control')]).to.deep.equal([200, 'no-cache']);
    expect((await get(first.headers.get('etag') ?? '')).status).to.equal(304);
  });

  it('is not ready while it alone is cut off from Postgres, and alive when it did not stand still', async () => {
    const { db, redis, objects } = api.deps;
    const off = async (): Promise<never> => Promise.reject(new Error('off'));
    const cut = connectDatabase(api.config.databaseUrl, api.deps.log);
    await cut.destroy();
    const parts = { queue: off, transcode: off, subtitles: off, storage: off, mail: off, keys: off };
    const make = (one: Db, pod: string) => createVitals({ db: one, redis, objects, pod }, parts);
    const [mine, other] = [make(cut, 'mine'), make(db, 'other')];
    try {
      await redis.del('foyer:database-seen');
      for (let looks = 0; looks < 4; looks += 1) await mine.look();
      expect(mine.cutOff()).to.equal(false); // unreachable: it is not this process
      await other.look();
      await mine.look();
      expect([mine.cutOff(), other.cutOff()]).to.deep.equal([true, false]);
      await redis.del('foyer:database-seen');
      await mine.look();
      expect(mine.cutOff()).to.equal(false);
    } finally {
      mine.stop();
      other.stop();
    }
    let now = 0;
    const pulse = createPulse(() => now);
    for (now = 1000; now < 5000; now += 1000) pulse.beat();
    expect(pulse.stoodStill()).to.equal(false);
    now += 11_000;
    expect(pulse.stoodStill()).to.equal(true);
    pulse.beat();
    expect(pulse.stoodStill()).to.equal(true);
    for (let beats = 0; beats < 10; beats += 1) {
      now += 1000;
      pulse.beat();
    }
    expect(pulse.stoodStill()).to.equal(false);
  });

  it('is unavailable in health while its schema is not there yet', async () => {
    const { vitals } = api.deps;
    api.deps.vitals = { ...vitals, schemaCurrent: () => false };
    try {
      const answer = await api.fetch('/api/v1/server/health');
      const body = (await answer.json()) as { error: { details: object } };
      expect([answer.status, answer.headers.has('retry-after')]).to.deep.equal([503, true]);
      expect(body.error.details).to.include({ waitingFor: 'schema', status: 'unavailable' });
      api.deps.vitals = { ...vitals, stoodStill: () => true };
      expect((await api.fetch('/api/v1/server/live')).status).to.equal(503);
    } finally {
      api.deps.vitals = vitals;
    }
  });

  it('reports mail: off without a server, and how sending goes', async () => {
    const { db, vitals, settings } = api.deps;
    const mail = async () => {
      for (let looks = 0; looks < 2; looks += 1) await vitals.look();
      const { body } = await api.anyone.getServerHealth();
      return body.checks.find(({ name }) => name === 'mail')?.state;
    };
    expect(await mail()).to.equal('off');
    await saveSettings(
      db,
      { 'email.enabled': true, 'email.smtp.host': 'mail.home.example', 'email.from': 'foyer@home.example' },
      null,
    );
    await settings.reload();
    expect(await mail()).to.equal('ok');
    await saveSettings(db, { 'email.enabled': false }, null);
    await settings.reload();
    expect(await mail()).to.equal('off');
  });

  it('is alive, ready and healthy', async () => {
    expect((await api.anyone.getServerLiveness()).body).to.deep.equal({ status: 'ok' });
    expect((await api.anyone.getServerReadiness()).body).to.deep.equal({ status: 'ok' });
  });

  it('reports health: working parts, parts that are off, and degraded while no worker runs', async () => {
    const { body } = await api.anyone.getServerHealth();
    const states = Object.fromEntries(body.checks.map(({ name, state }) => [name, state]));
    const without = { queue: 'down', transcode: 'down', subtitles: 'off', mail: 'off' };
    expect(states).to.deep.equal({ database: 'ok', redis: 'ok', objects: 'ok', storage: 'ok', keys: 'ok', ...without });
    expect(body.status).to.equal('degraded');
  });

  it('is degraded by work that people wait for and no worker begins, and not by a queue that a person paused', async () => {
    const { db, vitals, settings } = api.deps;
    const worker = connectDatabase(api.config.databaseUrl, api.deps.log, { max: 1 });
    atEnd(() => worker.destroy());
    await worker.raw('select pg_advisory_lock(?, 1)', [ALIVE]); // by which a living worker is known
    const seen = async (): Promise<string | undefined> => {
      for (let looks = 0; looks < 3; looks += 1) await vitals.look();
      const { body } = await api.anyone.getServerHealth();
      return body.checks.find(({ name }) => name === 'queue')?.state;
    };
    const pause = async (queues: string[]): Promise<void> => {
      await saveSettings(db, { 'jobs.paused': queues }, null);
      await settings.reload();
    };
    expect(await seen()).to.equal('ok');
    const ids = [
      await enqueue(db, 'webhook.deliver', { payload: { webhookId: newId() } }),
      await enqueue(db, 'labels.apply', { payload: { number: 1 } }),
    ];
    await db.raw(`update graphile_worker._private_jobs set run_at = now() - interval '2 minutes' where key = any(?)`, [
      ids,
    ]);
    expect(await seen()).to.equal('degraded');
    await pause(['delivery']);
    expect(await seen()).to.equal('degraded');
    await pause(['delivery', 'interactive']);
    expect(await seen()).to.equal('ok');
    await pause([]);
    expect(await seen()).to.equal('degraded');
    await db.raw('delete from graphile_worker._private_jobs where key = any(?)', [ids]);
    await worker.destroy();
    expect(await seen()).to.equal('down');
  });

  it('reports storage after two checks of a missing folder, and when it is back', async () => {
    const states = async () => {
      const { body } = await api.anyone.getServerHealth();
      return body.checks.find(({ name }) => name === 'storage')?.state;
    };
    const [root] = api.deps.config.mediaRoots;
    renameSync(root?.path ?? '', `${root?.path}.away`);
    await api.deps.vitals.look();
    expect(await states()).to.equal('ok');
    await api.deps.vitals.look();
    expect(await states()).to.equal('down');
    renameSync(`${root?.path}.away`, root?.path ?? '');
    await api.deps.vitals.look();
    await api.deps.vitals.look();
    expect(await states()).to.equal('ok');
  });

  it('describes itself in OpenAPI 3.1, the same bytes each time and 304 to callers that have them', async () => {
    const first = await api.fetch('/api/v1/openapi.json');
    const document = (await first.json()) as { openapi: string; paths: Record<string, object> };
    expect(document.openapi).to.equal('3.1.1');
    expect(document.paths).to.have.property('/server/info');
    const again = await api.fetch('/api/v1/openapi.json', {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    });
    expect(again.status).to.equal(304);
  });

  it('sends the description as small as the caller takes it, to any origin, and HEAD of everything here', async () => {
    const sizes = new Map<string, string>();
    for (const coding of ['br', 'gzip', 'identity']) {
      const answer = await api.fetch('/api/v1/openapi.json', { headers: { 'accept-encoding': coding } });
      expect(answer.headers.get('content-encoding') ?? 'identity').to.equal(coding);
      sizes.set(await answer.text(), coding); // unpacked it is the same
    }
    expect(sizes.size).to.equal(1);
    for (const path of ['server/info', 'server/health', 'server/live', 'server/ready', 'openapi.json', 'docs']) {
      const head = await api.fetch(`/api/v1/${path}`, { method: 'HEAD' });
      expect([head.status, await head.text(), head.headers.getSetCookie()], path).to.deep.equal([200, '', []]);
    }
    const open = await api.fetch('/api/v1/server/info', { headers: { origin: 'https://elsewhere.example' } });
    expect(open.headers.get('access-control-allow-origin')).to.equal('*');
    expect(open.headers.has('access-control-allow-credentials')).to.equal(false);
    const { paths } = (await (await api.fetch('/api/v1/openapi.json')).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(paths['/server/info']?.['get']).to.include.keys(
      'operationId',
      'summary',
      'tags',
      'x-permission',
      'x-credentials',
    );
  });

  it('answers an address 300 times a minute, and probes always', async () => {
    const behind = await startApi({ FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
    const send = (path: string, from: string) =>
      behind.fetch(`/api/v1/server/${path}`, { headers: { 'x-forwarded-for': from } });
    for (let i = 0; i < 300; i += 1) expect((await send('info', '203.0.113.7')).status).to.equal(200);
    const over = await send('health', '203.0.113.7');
    expect([over.status, over.headers.has('retry-after')]).to.deep.equal([429, true]);
    expect((await send('info', '203.0.113.8')).status).to.equal(200);
    expect((await send('live', '203.0.113.7')).status).to.equal(200);
  });

  it('has a docs page under a strict policy with an anchor for each operation', async () => {
    const page = await api.fetch('/api/v1/docs');
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'").and.not.include('unsafe');
    expect(await page.text()).to.include('id="getServerInfo"');
  });

  it('answers unknown paths with the envelope: 404, and 405 with the known methods', async () => {
    const unknown = await api.fetch('/api/v1/nothing/here');
    expect(unknown.status).to.equal(404);
    expect(await unknown.json()).to.have.nested.property('error.code', 'NOT_FOUND');
    const method = await api.fetch('/api/v1/server/info', { method: 'DELETE' });
    expect(method.status).to.equal(405);
    expect(method.headers.get('allow')).to.equal('GET, HEAD');
    const misspelt = await api.fetch('/api/v1/server/info?x=1', { headers: { 'x-request-id': 'abc' } });
    expect(misspelt.status).to.equal(400);
    expect(misspelt.headers.get('x-request-id')).to.equal('abc');
  });
});
