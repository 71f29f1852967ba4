import { execFileSync } from 'node:child_process';
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Notice, notify } from '#areas/notifications/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { DeliveryWorkers, type Received, Receiver } from '#support/deliveries.ts';
import type { Person } from '#support/given.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';

/** A push service with HTTP over TLS, with a certificate of its own authority. */
async function pushService(): Promise<{ service: Receiver; ca: string }> {
  const folder = temporaryFolder('push');
  const file = (name: string) => join(folder, name);
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  run(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    file('key'),
    '-out',
    file('cert'),
    '-days',
    '2',
    '-subj',
    '/CN=push.test',
    '-addext',
    'subjectAltName=DNS:push.test',
  );
  const service = new Receiver();
  service.answer = (response) => response.writeHead(201).end();
  const server = createServer(
    { key: readFileSync(file('key')), cert: readFileSync(file('cert')) },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const received = { method, path, headers, body: Buffer.concat(chunks), atMs: Date.now() };
        service.got.push(received);
        service.answer(response, received);
      });
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  service.url = `https://push.test:${(server.address() as { port: number }).port}`;
  return { service, ca: readFileSync(file('cert'), 'utf8') };
}

/** The keys of a browser: it alone can read its messages (RFC 8291). */
function browser() {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  const auth = randomBytes(16);
  const open = (body: Buffer): Record<string, unknown> => {
    const salt = body.subarray(0, 16);
    const length = body[20] ?? 0;
    const sender = body.subarray(21, 21 + length);
    const sealed = body.subarray(21 + length);
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
    const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32));
    const key = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16));
    const nonce = Buffer.from(hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12));
    const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    expect(plain.at(-1), 'the last record').to.equal(2);
    return JSON.parse(plain.subarray(0, -1).toString()) as Record<string, unknown>;
  };
  return { keys: { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') }, open };
}

const reasonOf = (answer: { body: unknown }) =>
  (answer.body as { error: { details: Record<string, unknown> } }).error.details;

describe('web push', () => {
  let api: Api;
  let workers: DeliveryWorkers;
  let service: Receiver;
  before(async () => {
    api = await startApi({ FOYER_SETTINGS: JSON.stringify({ 'server.publicUrl': 'https://foyer.example' }) });
    const started = await pushService();
    service = started.service;
    workers = new DeliveryWorkers(api);
    await workers.start({ TEST_CA: started.ca });
  });
  beforeEach(() => {
    service.got.length = 0;
    service.answer = (response) => response.writeHead(201).end();
  });
  const send = (notice: Notice) => api.deps.db.transaction((db) => notify(db, notice));
  const ready = (person: Person, name = 'A film', more: Partial<Notice> = {}): Notice => ({
    kind: 'download-ready',
    to: { accountIds: [person.accountId] },
    target: { kind: 'download', id: newId() },
    data: { name },
    url: '/downloads',
    ...more,
  });
  const keyId = async (person: Person) => (await api.as(person).getPushSetup()).body.keyId ?? '';
  const subscribe = async (person: Person, more: object = {}) => {
    const device = browser();
    const body = { endpoint: `${service.url}/${newId()}`, keys: device.keys, keyId: await keyId(person), ...more };
    const answer = await api.as(person).subscribePush({ body });
    expect([200, 201], JSON.stringify(answer.body)).to.include(answer.status);
    return { ...device, id: answer.body.id, endpoint: body.endpoint, status: answer.status };
  };
  const stateOf = async (person: Person) => (await api.as(person).getPushSetup()).body.subscriptions[0];

  it('reaches the device encrypted for it alone and signed with the key of the server', async () => {
    const member = await api.given.member();
    const setup = (await api.as(member).getPushSetup()).body;
    expect(setup).to.include({ available: true });
    const device = await subscribe(member, { deviceName: 'Phone' });
    await send(ready(member));
    const got = await service.request(1);
    expect(got.path).to.equal(new URL(device.endpoint).pathname);
    const { body: listed } = await api.as(member).listNotifications();
    expect(device.open(got.body)).to.deep.equal({
      title: 'Download ready',
      body: 'A film can be taken offline.',
      url: '/downloads',
      id: listed.items[0]?.id,
      tag: `download-ready:${listed.items[0]?.target?.id}`,
      badge: 1,
    });
    expect(() => browser().open(got.body), 'another device cannot read it').to.throw();
    expect(got.headers).to.include({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'normal' });
    expect(got.headers.topic).to.match(/^[\w-]{32}$/);
    signedBy(got, setup.publicKey ?? '');
    await eventually(async () => (await stateOf(member))?.lastSentAt);
    expect(await stateOf(member)).to.include({
      deviceName: 'Phone',
      thisDevice: true,
      state: 'active',
      failures: 0,
      service: new URL(service.url).host,
    });
  });

  function signedBy({ headers }: Received, publicKey: string): void {
    const [, jwt = '', k] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers.authorization ?? '') ?? [];
    expect(k).to.equal(publicKey);
    const point = Buffer.from(publicKey, 'base64url');
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    };
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    expect(
      verify(
        'sha256',
        Buffer.from(`${head}.${claims}`),
        { key, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      ),
    ).to.equal(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).to.include({
      aud: service.url,
      sub: 'https://foyer.example',
    });
  }

  it('keeps endpoint and keys sealed, and answers neither', async () => {
    const member = await api.given.member();
    const device = await subscribe(member);
    const row = JSON.stringify(await api.deps.db('push_subscriptions').where({ id: device.id }).first());
    for (const canary of [device.endpoint, device.keys.auth, device.keys.p256dh]) expect(row).to.not.include(canary);
    expect(JSON.stringify((await api.as(member).getPushSetup()).body)).to.not.include(device.keys.auth);
  });

  it('is one for each device, replaced with 200, and the test message comes at once', async () => {
    const member = await api.given.member();
    expect((await subscribe(member)).status).to.equal(201);
    const device = await subscribe(member, { test: true });
    expect(device.status).to.equal(200);
    expect((await api.as(member).getPushSetup()).body.subscriptions).to.have.length(1);
    expect(device.open((await service.request(1)).body)).to.include({ title: 'Notifications work', tag: 'test' });
  });

  it('refuses bad keys, an old key, addresses of the inside, keys and devices without an id', async () => {
    const member = await api.given.member();
    const good = { endpoint: `${service.url}/x`, keys: browser().keys, keyId: await keyId(member) };
    const tried = async (more: object, headers = {}) =>
      api.as(member).subscribePush({ body: { ...good, ...more }, headers });
    for (const keys of [
      { ...good.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') },
      { ...good.keys, p256dh: 'AAAA' },
      { ...good.keys, auth: Buffer.alloc(15).toString('base64url') },
    ])
      expect((await tried({ keys })).status).to.equal(400);
    for (const host of ['127.0.0.1', '10.0.0.1', '[::ffff:10.0.0.1]', 'localhost', '169.254.169.254'])
      expect((await tried({ endpoint: `https://${host}/x` })).status, host).to.equal(400);
    expect((await tried({ endpoint: 'http://push.test/x' })).status).to.equal(400);
    expect(reasonOf(await tried({ keyId: 'old' }))).to.include({ reason: 'key-changed' });
    const { 'x-client-id': _id, ...without } = member.headers;
    expect((await api.as({ ...member, headers: without }).subscribePush({ body: good })).status).to.equal(400);
    await api.deps.db('settings').insert({ key: 'push.enabled', value: 'false' });
    await api.deps.settings.reload();
    expect(reasonOf(await tried({}))).to.include({ reason: 'push-unavailable', cause: 'disabled' });
    expect((await api.as(member).getPushSetup()).body).to.include({ available: false, unavailableReason: 'disabled' });
    await api.deps.db('settings').where({ key: 'push.enabled' }).delete();
    await api.deps.settings.reload();
  });

  it('tries again after 30 s, 5 min and 1 h, and goes with the sign-in, the account and the device', async () => {
    const member = await api.given.member();
    const device = await subscribe(member);
    service.answer = (response) => response.writeHead(503).end();
    await send(ready(member));
    for (const [at, wait] of [30_000, 300_000, 3_600_000].entries()) {
      await service.request(at + 1);
      const { job } = await eventually(async () => {
        const found = await api.deps
          .db('jobs')
          .where({ kind: 'push.send', state: 'delayed' })
          .orderBy('id', 'desc')
          .first();
        return found && { job: found };
      });
      const { id } = job;
      const ahead = job.run_at.getTime() - workers.now();
      expect(ahead).to.be.within(wait - 20_000, wait);
      await workers.goOn(wait);
      await eventually(async () => (await api.deps.db('jobs').where({ id }).first()).state === 'completed');
    }
    await service.request(4);
    await eventually(async () => (await stateOf(member))?.failures === 4);
    expect(await stateOf(member)).to.include({ state: 'failing', lastError: 'status-503' });
    expect(await api.deps.db('push_messages').where({ subscription_id: device.id })).to.have.length(0);
    service.answer = (response) => response.writeHead(410).end();
    await send(ready(member, 'Another'));
    await eventually(async () => (await stateOf(member))?.state === 'expired');
  }).timeout(120_000);

  it('goes with the sign-in, the account, the device, and with another account on the same browser', async () => {
    const left = async (person: Person) =>
      (await api.deps.db('push_subscriptions').where({ account_id: person.accountId })).length;
    const ends: ((person: Person) => Promise<unknown>)[] = [
      (person) => api.deps.db('sessions').where({ id: person.sessionId }).delete(),
      (person) => api.deps.db('accounts').where({ id: person.accountId }).update({ disabled: true }),
      async (person) => {
        const client_id = person.headers['x-client-id'] ?? '';
        await api.deps
          .db('devices')
          .insert({ id: newId(), account_id: person.accountId, client_id, name: 'x' })
          .onConflict(['account_id', 'client_id'])
          .ignore();
        await api.deps.db('devices').where({ account_id: person.accountId }).update({ state: 'blocked' });
      },
      async (person) => {
        const other = await api.given.member();
        await api.deps.db('sessions').insert({
          id: newId(),
          account_id: other.accountId,
          profile_id: other.profileId,
          client_id: person.headers['x-client-id'],
          method: 'password',
          expires_at: new Date(Date.now() + 1e6),
        });
      },
      async (person) => {
        const [row] = await api.deps.db('push_subscriptions').where({ account_id: person.accountId });
        expect(row).to.not.equal(undefined);
        for (const status of [204, 204])
          expect((await api.as(person).unsubscribePush({ params: { id: row.id } })).status).to.equal(status);
      },
    ];
    for (const [at, end] of ends.entries()) {
      const person = await api.given.member();
      await subscribe(person);
      expect(await left(person)).to.equal(1);
      await end(person);
      expect(await left(person), String(at)).to.equal(0);
    }
  });

  it('names no titles when the preferences forbid it, omits read and deleted ones, and merges several into one', async () => {
    const member = await api.given.member();
    const device = await subscribe(member);
    const prefer = (more: object) => api.as(member).setNotificationPreferences({ body: { kinds: {}, ...more } });
    await prefer({ hideTitles: true });
    await send(ready(member, 'Canary'));
    expect(device.open((await service.request(1)).body).body).to.equal('… can be taken offline.');
    await prefer({ pausedUntil: new Date(workers.now() + 3_600_000).toISOString() });
    for (const name of ['One', 'Two', 'Three', 'Four']) await send(ready(member, name));
    const { items } = (await api.as(member).listNotifications()).body;
    await api.as(member).deleteNotification({ params: { id: items[0]?.id ?? '' } });
    await api.as(member).markNotificationsRead({ body: { ids: [items[1]?.id] } });
    expect(service.got).to.have.length(1);
    await workers.goOn(3_600_000 + 5000);
    const got = await service.request(2);
    expect(device.open(got.body)).to.include({ title: '2 new notifications', tag: 'several' });
    await eventually(
      async () => (await api.deps.db('push_messages').where({ subscription_id: device.id })).length === 0,
    );
    expect(service.got).to.have.length(2);
  });
});
