import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { type Api, startApi } from '#support/api.ts';
import { Receiver } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';

const details = (answer: { body: unknown }) =>
  (
    answer.body as {
      error: { details: { issues?: { path: unknown[]; code: string; message: string }[]; reason?: string } };
    }
  ).error.details;
const codes = (answer: { body: unknown }) => details(answer).issues?.map(({ code }) => code);

describe('webhooks', () => {
  let api: Api;
  let owner: Person;
  let receiver: Receiver;
  before(async () => {
    api = await startApi({ FOYER_WEBHOOK_NETWORKS: '["127.0.0.0/8"]', FOYER_CLUSTER_NETWORKS: '["10.96.0.0/12"]' });
    owner = await api.given.owner();
    receiver = await Receiver.start();
  });
  const made = async (more: object = {}, by = owner) => {
    const { status, body } = await api
      .as(by)
      .createWebhook({ body: { name: 'hook', url: receiver.url, events: ['*'], ...more } });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const rowsOf = (webhookId: string) =>
    api.deps.db('webhook_deliveries').where({ webhook_id: webhookId }).orderBy('seq');
  const userCreated = () =>
    api.deps.db.transaction((db) => emit(db, 'user.created', { payload: { userId: owner.accountId, role: 'member' } }));

  it('shows a secret it made once, never a supplied one, and keeps all sealed', async () => {
    const first = await made({ headers: { Authorization: 'Bearer canary-header' } });
    expect(first.secret).to.match(/^[\w-]{43}$/);
    expect(first.headerNames).to.deep.equal(['Authorization']);
    expect((await made({ secret: 'supplied-by-somebody' })).secret).to.equal(undefined);
    const row = JSON.stringify(await api.deps.db('webhooks').where({ id: first.id }).first());
    for (const canary of [first.secret, 'canary-header', receiver.url]) expect(row).to.not.include(canary);
    const plain = await api.as(owner).getWebhook({ params: { id: first.id } });
    expect(plain.body.secret).to.equal(undefined);
    expect(plain.body.headers).to.equal(undefined);
    const shown = await api.as(owner).getWebhook({ params: { id: first.id }, query: { secret: true } });
    expect(shown.body.secret).to.equal(first.secret);
    expect(shown.body.headers).to.deep.equal({ Authorization: 'Bearer canary-header' });
    expect(shown.headers.get('cache-control')).to.equal('no-store');
    const audit = await api.deps.db('audit_log').where({ action: 'webhook.secret-read' }).first();
    expect(audit).to.include({ account_id: owner.accountId });
    const audited = await api.deps.db('audit_log').select('details');
    for (const canary of ['canary-header', first.secret]) expect(JSON.stringify(audited)).to.not.include(canary);
  });

  it('masks the key in the address of a chat room', async () => {
    const one = await made({ format: 'discord', url: `${receiver.url}/api/webhooks/1/canary-token` });
    expect(one.url).to.equal(`${receiver.url}/api/webhooks/1/***`);
    const params = { id: one.id };
    const sentBack = await api.as(owner).updateWebhook({ params, body: { name: 'room', url: one.url } });
    expect(sentBack.status, 'a form sends back what it was shown').to.equal(200);
    const whole = await api.as(owner).getWebhook({ params, query: { secret: true } });
    expect(whole.body).to.include({ name: 'room', url: `${receiver.url}/api/webhooks/1/canary-token` });
    const other = { url: `${receiver.url}/api/webhooks/2/***` };
    expect(codes(await api.as(owner).updateWebhook({ params, body: other }))).to.deep.equal(['masked_secret']);
    const copied = { name: 'copy', events: ['*'], format: 'discord', url: one.url };
    expect(codes(await api.as(owner).createWebhook({ body: copied }))).to.deep.equal(['masked_secret']);
    const { body } = await api.as(owner).listWebhooks();
    expect(JSON.stringify(body)).to.not.include('canary-token');
    expect(body.formats.map(({ id }) => id)).to.deep.equal(['json', 'discord', 'slack', 'matrix', 'ntfy']);
    expect(body.events.map(({ name }) => name)).to.include('user.created');
    expect(body.events.map(({ name }) => name)).to.not.include('webhook.test');
    expect(body.events.some(({ name }) => name.startsWith('cast.'))).to.equal(false);
  });

  /** The key that it was sealed under is gone from the ring. */
  const lost = async (id: string): Promise<void> => {
    const { db } = api.deps;
    const { url, secret, headers } = await db('webhooks').where({ id }).first('url', 'secret', 'headers');
    const other = (sealed: string): string => `gone${sealed.slice(sealed.indexOf('.'))}`;
    await db('webhooks')
      .where({ id })
      .update({ url: other(url), secret: other(secret), headers: other(headers) });
  };

  it('lists one whose sealing key is gone next to the others, and lets it be deleted', async () => {
    const { id } = await made();
    await lost(id);
    const { status, body } = await api.as(owner).listWebhooks({});
    const seen = body.items.find((one) => one.id === id);
    expect([status, seen?.url]).to.deep.equal([200, '***']);
    expect(seen?.stateReason).to.contain('again');
    const tested = await api.as(owner).testWebhook({ params: { id }, body: {} });
    expect([tested.status, details(tested).reason]).to.deep.equal([409, 'sealing-key-gone']);
    expect((await api.as(owner).deleteWebhook({ params: { id } })).status).to.equal(204);
  });

  it('accepts changes of one whose sealing key is gone, and is whole again once address, secret and headers were given again', async () => {
    const params = { id: (await made({ headers: { Authorization: 'lost', 'X-Old': 'lost' } })).id };
    await lost(params.id);
    const named = await api.as(owner).updateWebhook({ params, body: { name: 'renamed', enabled: false } });
    expect([named.status, named.body.name, named.body.url]).to.deep.equal([200, 'renamed', '***']);
    const half = await api.as(owner).updateWebhook({ params, body: { secret: null } });
    expect(half.body.secret).to.match(/^[\w-]{43}$/);
    expect(half.body.stateReason, 'where it goes is not known yet').to.contain('again');
    const url = `${receiver.url}/anew`;
    const headers = { Authorization: 'new' };
    const whole = await api.as(owner).updateWebhook({ params, body: { url, headers, enabled: true } });
    expect(whole.body).to.include({ url, state: 'enabled' }).and.not.have.property('stateReason');
    const shown = (await api.as(owner).getWebhook({ params, query: { secret: true } })).body;
    expect(shown).to.deep.include({ url, headers, secret: half.body.secret, headerNames: ['Authorization'] });
  });

  it('rejects internal addresses at saving, whatever their spelling, and opens private ones by the setting', async () => {
    const hosts = [
      '10.0.0.1',
      '192.168.1.1',
      '[::ffff:10.0.0.1]',
      '169.254.169.254',
      '[fe80::1]',
      '[fd00::1]',
      '224.0.0.1',
      '0xa.1',
    ];
    const tried = async (url: string) => api.as(owner).createWebhook({ body: { name: 'x', url, events: ['*'] } });
    for (const host of hosts) {
      const answer = await tried(`http://${host}/`);
      expect(codes(answer), host).to.deep.equal(['address_not_allowed']);
      expect(details(answer).issues?.[0]?.message).to.include('webhooks.allowedNetworks');
    }
    const value = ['10.0.0.0/8', '169.254.0.0/16', 'fe80::/10'];
    await api.deps.db('settings').insert({ key: 'webhooks.allowedNetworks', value: JSON.stringify(value) });
    await api.deps.settings.reload();
    expect((await tried('http://10.0.0.1/')).status).to.equal(201);
    for (const host of ['169.254.169.254', '[fe80::1]', '10.96.0.1', '192.168.1.1'])
      expect(codes(await tried(`http://${host}/`)), host).to.deep.equal(['address_not_allowed']);
    for (const url of ['ftp://x.org/hook', 'http://a:b@example.org/', 'nothing', 'http://a.org/\nx'])
      expect((await tried(url)).status, url).to.equal(400);
  });

  it('rejects events that are unknown or not for webhooks, and headers of the server', async () => {
    const tried = async (more: object) =>
      (await api.as(owner).createWebhook({ body: { name: 'x', url: receiver.url, events: ['*'], ...more } })).status;
    for (const name of ['cast.*', 'cast.command', 'webhook.test', 'stream.reset', 'no.such', 'item', 'items.*', ''])
      expect(await tried({ events: [name] }), name).to.equal(400);
    for (const name of ['*', 'item.*', 'library.*', 'library.scan.*', 'user.created'])
      expect(await tried({ events: [name] }), name).to.equal(201);
    for (const name of ['Host', 'content-type', 'X-Service-Event', 'Transfer-Encoding', 'a b', 'ü', ''])
      expect(await tried({ headers: { [name]: 'x' } }), name).to.equal(400);
    expect(await tried({ headers: { a: 'x\r\ny: z' } })).to.equal(400);
    expect(await tried({ headers: { a: 'x'.repeat(4096) } })).to.equal(400);
    expect(
      await tried({ headers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`h${at}`, 'x'])) }),
    ).to.equal(400);
    expect(await tried({ secret: 'x'.repeat(15) })).to.equal(400);
    expect(await tried({ libraryIds: [newId()] })).to.equal(400);
  });

  it('writes a delivery in the transaction of its event, and none when that is rolled back', async () => {
    const { id } = await made({ events: ['user.created'] });
    await api.deps.db
      .transaction(async (db) => {
        await emit(db, 'user.created', { payload: { userId: owner.accountId, role: 'member' } });
        throw new Error('back');
      })
      .catch(() => undefined);
    expect(await rowsOf(id)).to.have.length(0);
    await userCreated();
    const [row] = await rowsOf(id);
    const body = JSON.parse(row.body.toString());
    expect(Object.keys(body)).to.deep.equal(['id', 'event', 'at', 'payload']);
    expect(body.id).to.equal(row.event_id);
    expect(body.payload).to.deep.equal({ userId: owner.accountId, role: 'member' });
  });

  it('sends only events that its owner may see, and only of its libraries', async () => {
    const admin = await api.given.admin();
    const [mine, hidden] = [newId(), newId()];
    for (const [id, everyone] of [
      [mine, true],
      [hidden, false],
    ] as const)
      await api.deps.db('libraries').insert({ id, name: id, name_folded: id, type: 'movies', everyone });
    await api.deps.db('accounts').where({ id: admin.accountId }).update({ library_mode: 'only' });
    await api.deps.db('library_access').insert({ library_id: mine, account_id: admin.accountId });
    const seeing = await made({ events: ['item.*'] }, admin);
    const narrow = await made({ events: ['item.*'], libraryIds: [hidden] });
    for (const libraryId of [mine, hidden])
      await api.deps.db.transaction((db) =>
        emit(db, 'item.added', { payload: { itemId: newId(), libraryId, title: 'A' }, facts: { libraryId } }),
      );
    const bodies = async (id: string) =>
      (await rowsOf(id)).map((row) => JSON.parse(row.body.toString()).payload.libraryId);
    expect(await bodies(seeing.id)).to.deep.equal([mine]);
    expect(await bodies(narrow.id)).to.deep.equal([hidden]);
  });

  it('stops for an owner that is disabled or loses the right, until another saves it and is its owner', async () => {
    for (const loss of [
      { disabled: true },
      { own_permissions: JSON.stringify({ 'settings:manage': false }) },
      { role: 'member' },
    ]) {
      const admin = await api.given.admin();
      const { id } = await made({ events: ['user.created'] }, admin);
      await userCreated();
      await api.deps.db('accounts').where({ id: admin.accountId }).update(loss);
      await userCreated();
      expect((await rowsOf(id)).map(({ state }) => state)).to.deep.equal(['dropped']);
      const lost = await api.as(owner).getWebhook({ params: { id } });
      expect(lost.body.state).to.equal('owner-lost');
      expect(lost.body.stateReason).to.be.a('string');
      const saved = await api.as(owner).updateWebhook({ params: { id }, body: { name: 'taken over' } });
      expect(saved.body).to.include({ state: 'enabled', name: 'taken over' });
      expect(saved.body.owner.userId).to.equal(owner.accountId);
      await userCreated();
      expect(await rowsOf(id)).to.have.length(2);
    }
  });

  it('keeps only the newest waiting progress of a scan', async () => {
    const { id } = await made({ events: ['library.scan.*'] });
    const libraryId = newId();
    await api.deps
      .db('libraries')
      .insert({ id: libraryId, name: libraryId, name_folded: libraryId, type: 'movies', everyone: true });
    const scanId = newId();
    for (const done of [1, 2, 3])
      await api.deps.db.transaction((db) =>
        emit(db, 'library.scan.progress', { payload: { libraryId, scanId, done } }),
      );
    expect((await rowsOf(id)).map(({ state }) => state)).to.deep.equal(['superseded', 'superseded', 'waiting']);
  });

  it('drops deliveries beyond 10,000 waiting ones, and shows it', async () => {
    const { id } = await made({ events: ['user.created'] });
    await api.deps.db.raw(
      `insert into webhook_deliveries (id, webhook_id, event, event_id, format, state, size_bytes, next_attempt_at)
       select gen_random_uuid(), ?, 'user.created', gen_random_uuid(), 'json', 'waiting', 1, now() from generate_series(1, 10000)`,
      [id],
    );
    await userCreated();
    const { body } = await api.as(owner).listDeliveries({ params: { id }, query: { limit: 1 } });
    expect(body.items[0]).to.include({ state: 'dropped', event: 'user.created' });
    expect((await api.as(owner).getWebhook({ params: { id } })).body).to.include({
      failuresInARow: 0,
      waiting: 10_000,
    });
  });

  it('drops headers at a new host, merges them else, and shows a new secret once', async () => {
    const { id } = await made({ headers: { Authorization: 'one', 'X-Two': '2' } });
    const patch = async (body: object) => (await api.as(owner).updateWebhook({ params: { id }, body })).body;
    expect((await patch({ headers: { 'x-two': null, 'X-Three': '3' } })).headerNames).to.deep.equal([
      'Authorization',
      'X-Three',
    ]);
    expect((await patch({ url: `${receiver.url}/elsewhere` })).headerNames).to.deep.equal(['Authorization', 'X-Three']);
    const moved = await patch({ url: receiver.url.replace('127.0.0.1', '127.0.0.2'), headers: { 'X-New': 'n' } });
    expect(moved.headerNames).to.deep.equal(['X-New']);
    expect((await patch({ secret: null })).secret).to.match(/^[\w-]{43}$/);
    expect((await patch({ name: 'again' })).secret).to.equal(undefined);
  });

  it('enables again from 0 and sends no past event', async () => {
    const { id } = await made({ events: ['user.created'] });
    await userCreated();
    await api.deps.db('webhooks').where({ id }).update({ failures: 20, switched_off_at: new Date() });
    await userCreated();
    expect((await api.as(owner).getWebhook({ params: { id } })).body.state).to.equal('switched-off');
    await api.as(owner).updateWebhook({ params: { id }, body: { enabled: false } });
    const { body } = await api.as(owner).updateWebhook({ params: { id }, body: { enabled: true } });
    expect(body).to.include({ state: 'enabled', failuresInARow: 0, waiting: 0 });
    expect((await rowsOf(id)).map(({ state }) => state)).to.deep.equal(['dropped']);
  });

  it('lists deliveries by state, event and time, with bodies on request, and deletes them with the webhook', async () => {
    const { id } = await made({ events: ['user.created', 'settings.changed'] });
    await userCreated();
    await api.deps.db.transaction((db) => emit(db, 'settings.changed', { payload: { keys: ['server.name'] } }));
    const list = async (query: Record<string, string>) =>
      (await api.as(owner).listDeliveries({ params: { id }, query })).body.items;
    expect((await list({})).map(({ event }) => event)).to.deep.equal(['settings.changed', 'user.created']);
    expect((await list({ sort: 'createdAt' })).map(({ event }) => event)).to.deep.equal([
      'user.created',
      'settings.changed',
    ]);
    expect(await list({ event: 'user.created', state: 'waiting,failed' })).to.have.length(1);
    expect(await list({ state: 'failed' })).to.have.length(0);
    expect(await list({ since: new Date(Date.now() + 60_000).toISOString() })).to.have.length(0);
    expect((await list({}))[0]?.body).to.equal(undefined);
    const [one] = await list({ include: 'body' });
    expect(Buffer.byteLength(one?.body ?? '')).to.equal(one?.sizeBytes);
    expect(await list({ deliveryId: one?.id ?? '' })).to.have.length(1);
    expect((await api.as(owner).deleteWebhook({ params: { id } })).status).to.equal(204);
    expect(await rowsOf(id)).to.have.length(0);
    expect((await api.as(owner).deleteWebhook({ params: { id } })).status).to.equal(404);
  });

  it('has at most 100', async () => {
    const { body } = await api.as(owner).listWebhooks();
    for (let at = body.items.length; at < 100; at += 1) await made();
    const answer = await api.as(owner).createWebhook({ body: { name: 'x', url: receiver.url, events: ['*'] } });
    expect(answer.status).to.equal(409);
    expect(details(answer).reason).to.equal('webhook-limit');
  });
});
