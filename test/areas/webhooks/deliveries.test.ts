import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { webhookOutbound } from '#areas/webhooks/public.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { emit } from '#platform/outbox.ts';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers, Receiver } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { eventually } from '#support/stores.ts';

const MINUTE = 60_000;
const LADDER = [10_000, MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE];

describe('webhook deliveries', () => {
  let api: Api;
  let owner: Person;
  let workers: DeliveryWorkers;
  let worker: Awaited<ReturnType<DeliveryWorkers['start']>>;
  before(async () => {
    api = await startApi({ FOYER_WEBHOOK_NETWORKS: '["127.0.0.0/8"]' });
    owner = await api.given.owner();
    workers = new DeliveryWorkers(api);
    worker = await workers.start();
  });
  const made = async (receiver: Receiver, more: object = {}) => {
    const { status, body } = await api
      .as(owner)
      .createWebhook({ body: { name: 'hook', url: receiver.url, events: ['user.created'], ...more } });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const happen = () =>
    api.deps.db.transaction((db) => emit(db, 'user.created', { payload: { userId: owner.accountId, role: 'member' } }));
  const latest = async (id: string) =>
    (await api.as(owner).listDeliveries({ params: { id }, query: { limit: 1, include: 'body,response' } })).body
      .items[0];
  const reaches = (id: string, state: string, attempts = 0) =>
    eventually(async () => {
      const one = await latest(id);
      return one?.state === state && one.attempts.length >= attempts && one;
    }, 25_000);
  const remove = (id: string) => api.as(owner).deleteWebhook({ params: { id } });

  it('posts the envelope signed over its raw bytes, with the headers of SPEC 6 and the configured ones', async () => {
    const receiver = await Receiver.start();
    const { id, secret = '' } = await made(receiver, { headers: { 'X-Token': 'mine' } });
    await happen();
    const got = await receiver.request(1);
    const one = await reaches(id, 'delivered');
    expect(got.method).to.equal('POST');
    expect(got.headers).to.include({
      'x-service-event': 'user.created',
      'x-service-delivery': one.id,
      'x-token': 'mine',
    });
    expect(got.headers['content-type']).to.equal('application/json');
    expect(got.headers['user-agent']).to.match(/^Foyer\/\d/);
    expect(got.headers).to.not.have.any.keys('cookie', 'transfer-encoding');
    expect(got.headers['x-service-signature']).to.equal(
      `sha256=${createHmac('sha256', secret).update(got.body).digest('hex')}`,
    );
    const envelope = JSON.parse(got.body.toString());
    const published = await eventually(() =>
      api.deps
        .db('outbox')
        .where({ id: envelope.id })
        .first()
        .then((row) => row ?? api.deps.db('events').where({ id: envelope.id }).first()),
    );
    expect(envelope).to.deep.equal({
      id: published.id,
      event: 'user.created',
      at: published.at.toISOString(),
      payload: published.payload,
    });
    expect(one.body).to.equal(got.body.toString());
    expect(one.attempts[0]).to.include({
      number: 1,
      outcome: '2xx',
      statusCode: 200,
      address: '127.0.0.1',
      responseBody: 'ok',
    });
    await remove(id);
  });

  it('climbs the exact ladder of 10 s to 6 h, also with its process killed between attempts, then has failed', async () => {
    const receiver = await Receiver.start();
    receiver.answer = (response) => response.writeHead(500).end('no');
    const { id } = await made(receiver);
    await happen();
    for (const [at, wait] of LADDER.entries()) {
      const one = await reaches(id, 'waiting', at + 1);
      const last = one.attempts.at(-1);
      const due = Date.parse(last?.at ?? '') + (last?.tookMs ?? 0) + wait;
      expect(Date.parse(one.nextAttemptAt ?? ''), `after attempt ${at + 1}`).to.equal(due);
      await workers.kill(worker);
      expect((await latest(id))?.nextAttemptAt, 'a kill changes nothing').to.equal(one.nextAttemptAt);
      worker = await workers.start();
      await workers.goOn(due - workers.now() - 2500);
      await sleep(700);
      expect(receiver.got.length, 'not before its time').to.equal(at + 1);
      await workers.goOn(due - workers.now() + 50);
      await receiver.request(at + 2);
    }
    const { body } = await eventually(async () => {
      const answer = await api.as(owner).getWebhook({ params: { id } });
      return answer.body.failuresInARow === 1 && answer;
    });
    expect(body.lastDelivery).to.include({ state: 'failed', statusCode: 500 });
    expect((await latest(id))?.attempts.map(({ number }) => number)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(new Set(receiver.got.map(({ headers }) => headers['x-service-delivery'])).size).to.equal(1);
    expect(new Set(receiver.got.map((got) => got.body.toString())).size).to.equal(1);
    await remove(id);
  }).timeout(180_000);

  it('repeats the attempt under the same delivery id when its process is killed while it sends', async () => {
    const receiver = await Receiver.start();
    receiver.answer = () => undefined; // holds the request
    const { id } = await made(receiver);
    await happen();
    const first = await receiver.request(1);
    await workers.kill(worker);
    expect((await latest(id))?.state).to.equal('sending');
    receiver.answer = (response) => response.end();
    worker = await workers.start();
    const second = await receiver.request(2);
    expect(second.headers['x-service-delivery']).to.equal(first.headers['x-service-delivery']);
    expect(second.body.equals(first.body)).to.equal(true);
    expect((await reaches(id, 'delivered')).attempts).to.have.length(1);
    await remove(id);
  });

  it('sends at once also where the clock of the worker is behind that of the database', async () => {
    const receiver = await Receiver.start();
    const { id } = await made(receiver);
    const ahead = workers.now() - Date.now();
    await workers.goOn(-ahead - MINUTE);
    await happen();
    await receiver.request(1);
    await workers.goOn(ahead + MINUTE);
    await remove(id);
  });

  it('sends nothing more for an account that has expired', async () => {
    const receiver = await Receiver.start();
    receiver.answer = (response) => response.writeHead(500).end('no');
    const leaving = await api.given.admin();
    const body = { name: 'hook', url: receiver.url, events: ['user.created'] };
    const { id } = (await api.as(leaving).createWebhook({ body })).body;
    await happen();
    const one = await reaches(id, 'waiting', 1);
    await api.deps
      .db('accounts')
      .where({ id: leaving.accountId })
      .update({ expires_at: new Date(0) });
    await workers.goOn(Date.parse(one.nextAttemptAt ?? '') - workers.now() + 1000);
    await eventually(async () => {
      const jobs = await api.deps.db('jobs').where({ kind: 'webhook.deliver' }).whereNotIn('state', ['completed']);
      return jobs.length === 0;
    }, 25_000);
    expect(receiver.got).to.have.length(1);
    await remove(id);
  });

  it('sends first attempts in order, two at a time, and a receiver that hangs delays no other', async () => {
    const [hanging, healthy] = [await Receiver.start(), await Receiver.start()];
    hanging.answer = () => undefined;
    const stuck = await made(hanging);
    const { id } = await made(healthy);
    for (let at = 0; at < 20; at += 1) await happen();
    await healthy.request(20);
    expect(hanging.got).to.have.length(2);
    const order = await api.deps.db('webhook_deliveries').where({ webhook_id: id }).orderBy('seq').pluck('id');
    const came = healthy.got.map(({ headers }) => headers['x-service-delivery']);
    for (const [at, delivery] of came.entries()) expect(Math.abs(order.indexOf(delivery) - at)).to.be.at.most(1);
    await remove(stuck.id);
    await remove(id);
  });

  it('switches off after 20 failed in a row, drops the rest and notifies those who may manage settings', async () => {
    const receiver = await Receiver.start();
    receiver.answer = (response) => response.writeHead(503).end();
    const { id } = await made(receiver);
    await api.deps.db('webhooks').where({ id }).update({ failures: 19 });
    await happen();
    for (const wait of LADDER) {
      const made = receiver.got.length;
      await eventually(() => receiver.got.length > 0);
      await reaches(id, 'waiting', Math.max(1, made));
      await workers.goOn(wait + 1000);
      await receiver.request(Math.max(1, made) + 1);
    }
    const off = await eventually(async () => {
      const { body } = await api.as(owner).getWebhook({ params: { id } });
      return body.state === 'switched-off' && body;
    });
    expect(off).to.include({ failuresInARow: 20, waiting: 0 });
    const { body } = await api.as(owner).listNotifications();
    expect(body.items[0]).to.include({ kind: 'webhook-disabled', body: 'hook failed 20 times in a row.', read: false });
    await happen();
    expect((await latest(id))?.state).to.equal('failed');
    await remove(id);
  }).timeout(120_000);

  it('one delivered sets the count to 0; tests do not count', async () => {
    const receiver = await Receiver.start();
    const { id } = await made(receiver);
    await api.deps.db('webhooks').where({ id }).update({ failures: 5 });
    await api.as(owner).testWebhook({ params: { id }, body: {} });
    expect((await api.as(owner).getWebhook({ params: { id } })).body.failuresInARow).to.equal(5);
    await happen();
    await reaches(id, 'delivered');
    expect((await api.as(owner).getWebhook({ params: { id } })).body.failuresInARow).to.equal(0);
    await remove(id);
  });

  it('tests at once, also when disabled, and returns the response of the receiver', async () => {
    const receiver = await Receiver.start();
    receiver.answer = (response) => response.writeHead(418, { 'x-pot': 'tea' }).end('x'.repeat(10_000));
    const { id, secret = '' } = await made(receiver, { enabled: false });
    const { body, status } = await api.as(owner).testWebhook({ params: { id }, body: {} });
    expect(status).to.equal(200);
    expect(body).to.include({ ok: false, statusCode: 418, reason: 'status' });
    expect(body.body).to.have.length(4096);
    expect(body.headers).to.include({ 'x-pot': 'tea' });
    const [got] = receiver.got;
    expect(got?.headers['x-service-event']).to.equal('webhook.test');
    expect(body.signature).to.equal(got?.headers['x-service-signature']);
    expect(body.signature).to.equal(
      `sha256=${createHmac('sha256', secret)
        .update(got?.body ?? '')
        .digest('hex')}`,
    );
    expect(JSON.parse(got?.body.toString() ?? '').payload).to.deep.equal({ webhookId: id, byUserId: owner.accountId });
    expect(body.delivery).to.include({ state: 'failed', event: 'webhook.test' });
    receiver.answer = (response) => response.writeHead(302, { location: receiver.url }).end();
    expect((await api.as(owner).testWebhook({ params: { id } })).body).to.include({ ok: false, reason: 'redirect' });
    for (let at = 0; at < 8; at += 1) await api.as(owner).testWebhook({ params: { id } });
    expect(receiver.got, 'no redirect was followed').to.have.length(10);
    expect((await api.as(owner).testWebhook({ params: { id } })).status).to.equal(429);
    await remove(id);
  });

  it('sends a past delivery again: same bytes and event id, a new delivery id, the secret of today', async () => {
    const receiver = await Receiver.start();
    const { id } = await made(receiver);
    await happen();
    const past = await reaches(id, 'delivered');
    const secret = 'another-secret-of-today';
    await api.as(owner).updateWebhook({ params: { id }, body: { secret } });
    const { body } = await api.as(owner).testWebhook({ params: { id }, body: { deliveryId: past.id } });
    expect(body).to.include({ ok: true, statusCode: 200 });
    expect(body.delivery).to.include({ redeliveryOf: past.id, eventId: past.eventId, event: 'user.created' });
    expect(body.delivery.id).to.not.equal(past.id);
    const [first, second] = receiver.got;
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).to.equal(true);
    expect(second?.headers['x-service-signature']).to.equal(
      `sha256=${createHmac('sha256', secret)
        .update(second?.body ?? '')
        .digest('hex')}`,
    );
    const other = await made(receiver);
    expect(
      (await api.as(owner).testWebhook({ params: { id: other.id }, body: { deliveryId: past.id } })).status,
    ).to.equal(404);
    await api.deps.db('webhook_deliveries').where({ id: past.id }).update({ body: null });
    const gone = await api.as(owner).testWebhook({ params: { id }, body: { deliveryId: past.id } });
    expect((gone.body as unknown as { error: { details: object } }).error.details).to.include({ reason: 'body-gone' });
    await remove(id);
    await remove(other.id);
  });

  it('posts one sentence to chat rooms, with mentions off and names escaped, in the language of the server', async () => {
    const receiver = await Receiver.start();
    await api.deps.db('accounts').where({ id: owner.accountId }).update({ display_name: '@everyone *<!channel>*' });
    const sent = async (format: string, path = '/room') => {
      const { id } = await made(receiver, { format, url: receiver.url + path, events: ['user.created'] });
      const before = receiver.got.length;
      await happen();
      const got = await receiver.request(before + 1);
      await remove(id);
      return got;
    };
    const discord = JSON.parse((await sent('discord')).body.toString());
    expect(discord.allowed_mentions).to.deep.equal({ parse: [] });
    expect(discord.content)
      .to.match(/has an account now\.$/)
      .and.include('\\*');
    expect(discord.content).to.not.include('@everyone');
    const slack = JSON.parse((await sent('slack')).body.toString());
    expect(slack.text).to.include('&lt;!channel&gt;');
    expect(slack.text).to.not.include('<!channel>');
    const ntfy = await sent('ntfy');
    expect(ntfy.headers).to.include({ title: 'Foyer', 'content-type': 'text/plain; charset=utf-8' });
    expect(ntfy.body.toString()).to.match(/has an account now\.$/);
    const matrix = await sent('matrix', '/_matrix/client/v3/rooms/!r:x/send/m.room.message');
    expect(matrix.method).to.equal('PUT');
    expect(matrix.path).to.equal(
      `/_matrix/client/v3/rooms/!r:x/send/m.room.message/${String(matrix.headers['x-service-delivery'])}`,
    );
    expect(JSON.parse(matrix.body.toString())).to.include({ msgtype: 'm.text' });
    for (const { headers } of receiver.got) expect(headers['x-service-signature']).to.match(/^sha256=[0-9a-f]{64}$/);
    await api.deps.db('settings').insert({ key: 'server.language', value: '"de"' }).onConflict('key').merge();
    await api.deps.settings.reload();
    expect((await sent('ntfy')).body.toString()).to.match(/hat jetzt ein Konto\.$/);
  });

  it('posts to a chat room in French where the server is French, and leaves a name that looks like a blank alone', async () => {
    const receiver = await Receiver.start();
    await api.deps.db('accounts').where({ id: owner.accountId }).update({ display_name: 'Zoé {person} $&' });
    await api.deps.db('settings').insert({ key: 'server.language', value: '"fr"' }).onConflict('key').merge();
    await api.deps.settings.reload();
    const { id } = await made(receiver, { format: 'ntfy' });
    await happen();
    expect((await receiver.request(1)).body.toString()).to.equal('Zoé {person} $& a maintenant un compte.');
    await remove(id);
  });

  it('judges addresses when it connects: a name that moved inside, mapped and local ones, however they were saved', async () => {
    const { config } = await startApi({ FOYER_CLUSTER_NETWORKS: '["10.96.0.0/12"]' });
    for (const address of [
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '10.1.2.3',
      '10.96.0.1',
      '169.254.169.254',
      'fe80::1',
      'fd00::1',
    ]) {
      const family = address.includes(':') ? 6 : 4;
      const way = webhookOutbound(config, { lookup: async () => [{ address, family }] });
      const refused = await way('http://rebound.example/', {
        allow: address === '10.1.2.3' ? [] : ['127.0.0.0/8', '10.0.0.0/8', 'fe80::/10'],
      }).catch((error: unknown) => error);
      expect(refused, address).to.be.instanceOf(OutboundRefused);
    }
  });

  it('records an address that is refused now, an unknown name, and a closed port', async () => {
    const receiver = await Receiver.start();
    const { id } = await made(receiver, { url: 'http://127.0.0.1:9/' });
    const tried = async (url?: string) => {
      if (url) await api.as(owner).updateWebhook({ params: { id }, body: { url } });
      return (await api.as(owner).testWebhook({ params: { id } })).body.reason;
    };
    expect(await tried()).to.equal('connection');
    expect(await tried('http://no-such-name.invalid/')).to.equal('dns');
    await workers.kill(worker);
    worker = await workers.start({ FOYER_WEBHOOK_NETWORKS: '[]' });
    expect(await tried(receiver.url)).to.equal('refused-address');
    expect(receiver.got).to.have.length(0);
    await workers.kill(worker);
    worker = await workers.start();
    await remove(id);
  });

  it('keeps pending deliveries while no key opens the webhook, and sends them once address and secret were given again', async () => {
    const receiver = await Receiver.start();
    const { id } = await made(receiver);
    const { db } = api.deps;
    const { url } = await db('webhooks').where({ id }).first('url');
    await db('webhooks')
      .where({ id })
      .update({ url: `gone${url.slice(url.indexOf('.'))}` });
    await happen();
    await eventually(async () => {
      const [job] = await db('jobs').where({ kind: 'webhook.deliver' }).orderBy('created_at', 'desc').limit(1);
      return job?.state === 'completed';
    }, 25_000);
    const kept = await latest(id);
    expect([kept?.state, kept?.attempts]).to.deep.equal(['waiting', []]);
    const secret = 'a secret that was given again';
    const { status } = await api.as(owner).updateWebhook({ params: { id }, body: { url: receiver.url, secret } });
    expect(status).to.equal(200);
    const got = await receiver.request(1);
    const sent = await reaches(id, 'delivered');
    expect([sent.id, sent.attempts.length]).to.deep.equal([kept?.id, 1]);
    expect(got.headers['x-service-signature']).to.equal(
      `sha256=${createHmac('sha256', secret).update(got.body).digest('hex')}`,
    );
    await remove(id);
  });

  it('ends a request in flight when its webhook is deleted', async () => {
    const receiver = await Receiver.start();
    let ended = false;
    receiver.answer = (response) =>
      response.on('close', () => {
        ended = true;
      });
    const { id } = await made(receiver);
    await happen();
    await receiver.request(1);
    await remove(id);
    await eventually(() => ended, 5000);
  });
});
