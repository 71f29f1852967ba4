import { once } from 'node:events';
import { createServer } from 'node:http';
import Router from '@koa/router';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Koa from 'koa';
import { z } from 'zod';
import { checkPlus } from '#areas/plus/public.ts';
import { plusOf } from '#identity/plus.ts';
import { defineArea, defineEndpoint, json } from '#kernel/endpoint.ts';
import { openApi } from '#kernel/openapi.ts';
import { envelope, serve } from '#kernel/pipeline.ts';
import { readConfig } from '#platform/config.ts';
import { seal } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { errorOf, issueOf } from '#support/signing-in.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { connectDeps } from '../../../api/deps.ts';

const DAY = 86_400;
const seconds = (): number => Math.floor(Date.now() / 1000);

describe('Plus licence', () => {
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let verifier: string;
  let api: Api;
  before(async () => {
    pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    verifier = JSON.stringify({
      keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', iss: 'https://sells.example' }],
    });
  });
  beforeEach(async () => {
    api = await startApi({ FOYER_PLUS_VERIFIER: verifier });
  });
  const licence = async (claims: JWTPayload = {}, header: object = {}, key = pair.privateKey): Promise<string> =>
    new SignJWT({
      iss: 'https://sells.example',
      sub: 'The Household',
      jti: 'L-1',
      iat: seconds(),
      exp: seconds() + DAY,
      features: ['dvr'],
      ...claims,
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'foyer-licence', kid: 'one', ...header })
      .sign(key);
  const set = async (text: string, more: object = {}) => {
    await api.deps.redis.flushdb();
    return api.as(await api.given.admin()).setPlusLicence({ body: { licence: text, ...more } });
  };
  const status = async (of = api) => (await of.as(await of.given.member()).getPlusStatus()).body;
  const check = () => checkPlus(api.deps);
  const changes = async (): Promise<unknown[]> =>
    (await api.deps.db('outbox').where({ event: 'settings.changed' }).orderBy('id').pluck('payload')) as unknown[];
  /** Moves the signed times, because no clock can be moved. */
  const ended = async (days: number): Promise<void> => {
    const { status: code } = await set(await licence({ exp: seconds() + 2 }), {});
    expect(code).to.equal(200);
    const old = await licence({ exp: seconds() - Math.round(days * DAY), jti: 'L-1' });
    await api.deps.db('plus_licence').update({ sealed: seal(api.deps.keys, old, 'plus_licence|sealed|one') });
    await api.deps.redis.publish('foyer:plus', '');
    await eventually(
      async () => (await status()).endsAt !== undefined && Date.parse((await status()).endsAt ?? '') < Date.now(),
    );
  };

  it('is open without a verifier: nothing is closed, and no licence is taken', async () => {
    const open = await startApi();
    const body = await status(open);
    expect(body).to.deep.include({ mode: 'open', state: 'open' });
    expect(Object.values(body.features)).to.deep.equal([true, true, true, true, true]);
    const answer = await open.as(await open.given.admin()).setPlusLicence({ body: { licence: await licence() } });
    expect(errorOf(answer).details.reason).to.equal('no-verifier');
    expect((await open.as(await open.given.admin()).removePlusLicence()).status).to.equal(204);
  });

  it('does not start with a verifier that cannot be parsed, or that could sign', async () => {
    const environment = {
      FOYER_DATABASE_URL: 'postgres://x',
      FOYER_REDIS_URL: 'redis://x',
      FOYER_OBJECTS_URL: 'file:///x',
      FOYER_KEYS_FILE: 'x',
    };
    const secret = JSON.stringify({ keys: [await exportJWK(pair.privateKey)] });
    for (const text of ['', '{', '{}', '{"keys":[]}', '{"keys":[{"kty":"RSA","n":"x","e":"AQAB"}]}', secret])
      expect(() => readConfig({ ...environment, FOYER_PLUS_VERIFIER: text }), text.slice(0, 20)).to.throw(
        'FOYER_PLUS_VERIFIER',
      );
    expect(readConfig({ ...environment, FOYER_PLUS_VERIFIER: verifier }).plusVerifier).to.have.length(1);
    expect(readConfig(environment).plusVerifier).to.equal(undefined);
  });

  it('is none, then active at once: the features of the licence are open, and all admins see it, others only the features', async () => {
    expect(await status()).to.deep.include({ mode: 'licensed', state: 'none' });
    const text = await licence({ features: ['dvr', 'sonic'], server: api.deps.keys.serverId });
    const installed = await set(` ${text.slice(0, 40)}\n${text.slice(40)} `);
    expect(installed.status, JSON.stringify(installed.body)).to.equal(200);
    expect(installed.body.licence).to.deep.include({
      id: 'L-1',
      licensee: 'The Household',
      keyId: 'one',
      serverId: api.deps.keys.serverId,
    });
    const seen = await status();
    expect(seen).to.deep.include({ state: 'active' });
    expect(seen.licence).to.equal(undefined);
    expect(seen.features).to.deep.equal({
      dvr: true,
      downloads: false,
      'watch-together': false,
      sonic: true,
      'remote-backup': false,
    });
    const admin = (await api.as(await api.given.admin()).getPlusStatus()).body;
    expect(admin.licence?.installedBy?.displayName).to.match(/^admin-/);
    expect(Date.parse(admin.graceEndsAt ?? '') - Date.parse(admin.endsAt ?? '')).to.equal(14 * DAY * 1000);
    expect(await changes()).to.deep.equal([{ keys: ['plus.licence'] }]);
    const [row] = await api.deps.db('plus_licence').select('sealed');
    expect(row.sealed).to.not.contain(text.split('.')[1]);
    const audit = JSON.stringify(await api.deps.db('audit_log').whereLike('action', 'plus%'));
    expect(audit).to.contain('L-1').and.not.contain(text.split('.')[2]);
  });

  it('opens everything with `all`, for ever without an end', async () => {
    const { exp: _end, ...claims } = { exp: 0, features: ['all'] };
    const forever = await new SignJWT({ ...claims, iss: 'https://sells.example', sub: 'x', jti: 'L', iat: seconds() })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'foyer-licence', kid: 'one' })
      .sign(pair.privateKey);
    const { body } = await set(forever);
    expect(Object.values(body.features)).to.deep.equal([true, true, true, true, true]);
    expect([body.endsAt, body.licence?.expiresAt]).to.deep.equal([undefined, undefined]);
  });

  it('rejects a licence that would open nothing with its reason, changes nothing then, and tries without installing', async () => {
    expect((await set(await licence({ jti: 'first' }))).status).to.equal(200);
    const other = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
    const good = await licence();
    const bad: [string, string][] = [
      ['licence_signature', await licence({}, {}, other.privateKey)],
      ['licence_signature', `${good.slice(0, -6)}AAAAAA`],
      ['licence_unknown_key', await licence({}, { kid: 'two' })],
      ['licence_malformed', 'x'],
      ['licence_malformed', await licence({}, { typ: 'at+jwt' })],
      ['licence_malformed', await licence({ features: ['everything'] })],
      ['licence_issuer', await licence({ iss: 'https://elsewhere.example' })],
      ['licence_server', await licence({ server: 'another' })],
      ['licence_not_yet', await licence({ nbf: seconds() + 3600 })],
      ['licence_lapsed', await licence({ exp: seconds() - 15 * DAY })],
    ];
    for (const [code, text] of bad) expect(issueOf(await set(text)), code).to.equal(code);
    const tried = await set(await licence({ nbf: seconds() + 3600 }), { dryRun: true });
    expect(tried.body).to.deep.include({ state: 'invalid', invalidReason: 'not-yet' });
    expect((await set(await licence({ jti: 'tried' }), { dryRun: true })).body.state).to.equal('active');
    const now = await api.as(await api.given.admin()).getPlusStatus();
    expect(now.body.licence?.id).to.equal('first');
    expect(await changes()).to.have.length(1);
    expect((await set('x'.repeat(8193))).status).to.equal(400);
  });

  it('counts ten a minute of an account', async () => {
    const admin = api.as(await api.given.admin());
    for (let i = 0; i < 10; i += 1)
      expect((await admin.setPlusLicence({ body: { licence: 'x' } })).status).to.equal(400);
    expect((await admin.setPlusLicence({ body: { licence: 'x' } })).status).to.equal(429);
  });

  it('is in grace for 14 days, then lapses, and announces each once', async () => {
    await ended(1);
    const grace = await status();
    expect([grace.state, grace.features['dvr']]).to.deep.equal(['grace', true]);
    await Promise.all([check(), check()]);
    expect(await changes()).to.have.length(2);
    const notices = () => api.deps.db('notifications').where({ kind: 'plus-ending' });
    await api.given.admin();
    const days = async (): Promise<unknown[]> => [...new Set((await notices()).map(({ data }) => data.days))];
    expect(await days()).to.deep.equal([14]);
    await ended(11.5);
    await api.deps.db('plus_licence').update({ noticed: 14 });
    await check();
    await check();
    expect(await days()).to.have.members([14, 3]);
    await ended(14.1);
    await api.deps.db('plus_licence').update({ noticed: 3 });
    expect([(await status()).state, (await status()).features['dvr']]).to.deep.equal(['lapsed', false]);
    await check();
    expect(await days()).to.have.members([14, 3, 0]);
  });

  it('closes at once when the licence is removed, without grace, and again is no error', async () => {
    await set(await licence());
    const admin = api.as(await api.given.admin());
    expect((await admin.removePlusLicence()).status).to.equal(204);
    expect((await status()).features['dvr']).to.equal(false);
    expect((await admin.removePlusLicence()).status).to.equal(204);
    expect(await changes()).to.have.length(2);
  });

  it('is known on every pod within two seconds', async () => {
    const leaving = new AbortController();
    const elsewhere = await connectDeps(api.config, createLog('silent', 'test'), leaving.signal);
    const other = plusOf({ ...elsewhere, config: { ...api.config } });
    expect((await other.current()).state).to.equal('none');
    await eventually(async () => Number((await api.deps.redis.pubsub('NUMSUB', 'foyer:plus'))[1]) > 0);
    await api.as(await api.given.admin()).setPlusLicence({ body: { licence: await licence() } });
    await eventually(async () => (await other.current()).state === 'active', 2000);
    leaving.abort();
    elsewhere.settings.stop();
    elsewhere.vitals.stop();
    elsewhere.keyUses.stop();
    elsewhere.redis.disconnect();
    await elsewhere.db.destroy();
  });

  it('is the resource to change when it declares the licence, which wins', async () => {
    const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'x' };
    const declared = await startApi({
      FOYER_PLUS_VERIFIER: verifier,
      FOYER_PLUS_LICENCE: await licence({ jti: 'declared', features: ['all'] }),
      FOYER_MANAGED_BY: JSON.stringify(managedBy),
    });
    const admin = declared.as(await declared.given.admin());
    const { body } = await admin.getPlusStatus();
    expect(body).to.deep.include({ state: 'active', managedBy });
    expect(body.licence?.id).to.equal('declared');
    for (const answer of [
      await admin.setPlusLicence({ body: { licence: await licence() } }),
      await admin.removePlusLicence(),
    ])
      expect(errorOf(answer).details).to.deep.equal({ reason: 'managed-by-resource', fields: ['licence'], managedBy });
    await checkPlus(declared.deps);
    await checkPlus(declared.deps);
    expect(await declared.deps.db('outbox').where({ event: 'settings.changed' })).to.have.length(1);
  });

  it('has an ETag that lasts as long as the answer', async () => {
    const member = api.as(await api.given.member());
    const etag = (await member.getPlusStatus()).headers.get('etag') ?? '';
    expect((await member.getPlusStatus({ headers: { 'if-none-match': etag } })).status).to.equal(304);
    await set(await licence());
    expect((await member.getPlusStatus({ headers: { 'if-none-match': etag } })).status).to.equal(200);
  });

  it('names the five features in the language of the caller', async () => {
    const german = await api.given.person('member', { language: 'de-AT' });
    const { items } = (await api.as(german).listPlusFeatures()).body;
    expect(items.map(({ id }) => id)).to.deep.equal(['dvr', 'downloads', 'watch-together', 'sonic', 'remote-backup']);
    expect(items[0]).to.deep.include({
      title: 'Aufnehmen',
      open: false,
      operations: ['createRecording', 'createRecordingRule'],
    });
    expect((await api.as(await api.given.member()).listPlusFeatures()).body.items[0]?.title).to.equal('Recording');
  });

  it('names them in the language of the profile where it has one of its own', async () => {
    const person = await api.given.person('member', { language: 'de' });
    await api.deps.db('profiles').where({ id: person.profileId }).update({ language: 'fr' });
    const [dvr] = (await api.as(person).listPlusFeatures()).body.items;
    expect(dvr?.title).to.equal('Enregistrement');
  });

  it('names them in French to readers of French, and in the language of the server to those who named none', async () => {
    const first = async (who: Person) => (await api.as(who).listPlusFeatures()).body.items[0]?.title;
    expect(await first(await api.given.person('member', { language: 'fr-CA' }))).to.equal('Enregistrement');
    await api.deps.db('settings').insert({ key: 'server.language', value: '"uk"' }).onConflict('key').merge();
    await api.deps.settings.reload();
    expect(await first(await api.given.member())).to.equal('Запис');
  });

  describe('an operation that declares it', () => {
    const record = defineEndpoint({
      operationId: 'recordSomething',
      method: 'post',
      path: '/record',
      summary: 'Record',
      access: { permission: 'library:manage' },
      plus: 'dvr',
      body: z.strictObject({ title: z.string() }),
      answer: json(200, z.object({})),
      handle: async () => ({}),
    });
    const post = async () => {
      const kernel = { deps: api.deps, readiness: { waitingFor: () => undefined } };
      const router = new Router().post('/record', serve(record, 'live-tv', kernel));
      const app = new Koa().use(envelope(kernel)).use(router.routes());
      const server = createServer((request, response) => void app.callback()(request, response)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      atEnd(() => server.close());
      const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/record`;
      return async (headers: Record<string, string>, body: object) => {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { status: answer.status, body: (await answer.json()) as unknown };
      };
    };

    it('is 402 with the feature, after 403 and before 400, until a licence opens it', async () => {
      const send = await post();
      const [admin, member] = [await api.given.admin(), await api.given.member()];
      expect((await send({}, {})).status).to.equal(401);
      expect((await send(member.headers, {})).status).to.equal(403);
      const refused = await send(admin.headers, { wrong: 1 });
      expect(refused.status).to.equal(402);
      expect(errorOf(refused)).to.deep.include({ code: 'PLUS_REQUIRED', details: { feature: 'dvr' } });
      await set(await licence());
      expect((await send(admin.headers, { wrong: 1 })).status).to.equal(400);
      expect((await send(admin.headers, { title: 'x' })).status).to.equal(200);
      await set(await licence({ features: ['sonic'] }));
      expect((await send(admin.headers, { title: 'x' })).status).to.equal(402);
    });

    it('is described with the feature and the refusal', () => {
      const described = openApi([defineArea('live-tv', 'Live TV', [record])], '1') as {
        paths: Record<string, Record<string, object>>;
      };
      const operation = described.paths['/record']?.['post'] as { responses: object; 'x-plus': string };
      expect(operation['x-plus']).to.equal('dvr');
      expect(operation.responses).to.have.property('402');
    });
  });
});
