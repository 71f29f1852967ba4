import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { seal } from '#platform/keys.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { changeKeys, newSealing, newSigning } from '#support/keys.ts';
import { startApiProcess, started, storesOf } from '#support/processes.ts';
import { challengeOf, codeOf, device, signIn, somebody, withTotp } from '#support/signing-in.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { keepSealed, resealAll } from '#workers/resealing.ts';

const MAIL = { 'server.publicUrl': 'https://foyer.example', 'email.enabled': true, 'email.smtp.host': 'smtp.test' };
const MANY = 1200;

describe('rotation of the key ring', () => {
  let api: Api;
  let owner: Person;
  beforeEach(async () => {
    const declared = { ...MAIL, 'email.from': 'foyer@example.org' };
    api = await startApi({ FOYER_SETTINGS: JSON.stringify(declared), FOYER_WEBHOOK_NETWORKS: '["127.0.0.0/8"]' });
    owner = await api.given.owner();
  });

  const hook = async (): Promise<string> => {
    const body = {
      name: 'hook',
      url: 'http://127.0.0.1:9/hook',
      events: ['user.created'],
      headers: { 'X-Token': 'mine' },
      secret: 'a secret of the receiver',
    };
    const { status, body: made } = await api.as(owner).createWebhook({ body });
    expect(status).to.equal(201);
    return made.id;
  };
  const shown = async (id: string) =>
    (await api.as(owner).getWebhook({ params: { id }, query: { secret: true } })).body;
  const save = async (password: string): Promise<void> => {
    const { status } = await api.as(owner).updateSettings({ body: { values: { 'email.smtp.password': password } } });
    expect(status).to.equal(200);
  };
  /** Sealed text of that key anywhere in the database, by table and column. */
  const sealedBy = async (kid: string): Promise<string[]> => {
    const { rows } = await api.deps.db.raw<{ rows: { table: string; column: string }[] }>(
      `select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and data_type in ('text', 'jsonb') order by 1, 2`,
    );
    const found = [];
    for (const { table, column } of rows) {
      const [counted] = await api.deps
        .db(table)
        .whereRaw('starts_with(trim(both ? from ??::text), ?)', ['"', column, `${kid}.`])
        .count<[{ n: number }]>('* as n');
      if ((counted?.n ?? 0) > 0) found.push(`${table}.${column}`);
    }
    return found;
  };
  /** One of everything that lasts, sealed by the key of now. */
  const everything = async () => {
    await save('of the mail server');
    const id = await hook();
    const person = await somebody(api);
    const { secret } = await withTotp(person.me);
    expect(
      (await api.as(owner).createInvite({ body: { email: 'a@example.org', role: 'member' } })).body.mailed,
    ).to.equal(true);
    const { db, keys } = api.deps;
    await db('plus_licence').update({ sealed: seal(keys, 'licence', 'plus_licence|sealed|one') });
    const subscription = '01900000-0000-7000-8000-0000000000aa';
    const encryption = { mode: 'passphrase', passphrase: 'correct horse battery' };
    expect((await api.as(owner).updateBackupSettings({ body: { encryption } })).status).to.equal(200);
    const place = '01900000-0000-7000-8000-0000000000bb';
    const sealedSecret = seal(keys, 'of the bucket', `backup_places|secret|${place}`);
    await db('backup_places').insert({ id: place, kind: 's3', secret: sealedSecret });
    await db('push_subscriptions').insert({
      id: subscription,
      account_id: owner.accountId,
      profile_id: owner.profileId,
      session_id: owner.sessionId,
      client_id: owner.headers['x-client-id'],
      device_name: 'Phone',
      endpoint: seal(keys, 'https://push.test/x', `push_subscriptions|endpoint|${subscription}`),
      endpoint_sha256: 'x',
      keys: seal(keys, '{}', `push_subscriptions|keys|${subscription}`),
      service: 'push.test',
      key_id: 'x',
    });
    return { id, person, secret };
  };
  const SEALED = [
    'backup_places.secret',
    'backup_settings.passphrase',
    'email_messages.body',
    'plus_licence.sealed',
    'push_subscriptions.endpoint',
    'push_subscriptions.keys',
    'settings.value',
    'sign_in_methods.secret_sealed',
    'webhooks.headers',
    'webhooks.secret',
    'webhooks.url',
  ];

  it('seals everything that lasts again while processes continue, so that the old key can be dropped, and signs no one out', async () => {
    const { id, person, secret } = await everything();
    const { keysFile } = api.config;
    await api.deps.db('totp_setups').delete(); // ten minutes old at most
    expect(await sealedBy('k1')).to.deep.equal(SEALED);
    const other = await startApiProcess(api);
    const worker = await started(
      ['workers/main.ts'],
      { ...storesOf(api.config), FOYER_SCRATCH_DIR: temporaryFolder('worker'), FOYER_LOG_LEVEL: 'info' },
      'worker is up',
    );
    try {
      const fresh = { signing: await newSigning('s2'), sealing: newSealing('k2') };
      changeKeys(keysFile, (ring) => {
        ring.signing.unshift(fresh.signing);
        ring.sealing.unshift(fresh.sealing);
      });
      await eventually(async () => (await sealedBy('k1')).length === 0, 60_000);
      expect(await sealedBy('k2')).to.deep.equal(SEALED);
      await eventually(() => api.deps.keys.sealing[0]?.kid === 'k2', 30_000);
      const now = await api.given.again(owner);
      expect(decodeProtectedHeader(now.headers.authorization?.slice(7) ?? '').kid).to.equal('s2');
      for (const headers of [now.headers, owner.headers])
        expect((await fetch(`${other.url}/api/v1/auth/me`, { headers })).status).to.equal(200);

      changeKeys(keysFile, (ring) => {
        ring.signing.splice(1);
        ring.sealing.splice(1);
      });
      await eventually(() => api.deps.keys.sealing.length === 1, 30_000);
      await eventually(
        async () => (await fetch(`${other.url}/api/v1/auth/me`, { headers: owner.headers })).status === 401,
        30_000,
      );
      expect((await api.as(owner).getMe()).status, 'its key is gone, though it was found good before').to.equal(401);
      const refreshed = await api.anyone.refreshSession({
        body: { refreshToken: person.refreshToken },
        headers: device,
      });
      expect(refreshed.status, 'no one is signed out').to.equal(200);
      owner = now;
      expect(await shown(id)).to.deep.include({
        url: 'http://127.0.0.1:9/hook',
        headers: { 'X-Token': 'mine' },
        secret: 'a secret of the receiver',
      });
      await api.deps.settings.reload();
      expect(api.deps.settings.get('email.smtp.password')).to.equal('of the mail server');
      const challenge = challengeOf(await signIn(api, person.username));
      const verified = await api.anyone.verifyTwoFactor({
        body: { challenge, method: 'totp', code: codeOf(secret) },
        headers: device,
      });
      expect(verified.status).to.equal(200);
    } finally {
      process.kill(worker);
      process.kill(other.pid);
    }
  });

  it('leaves concurrent writes, goes through any number of rows, and counts the values that no key opens', async () => {
    const { db, keys } = api.deps;
    const id = await hook();
    await save('first');
    await db.raw(
      `insert into webhooks (id, name, url, secret, format, events, owner_id, owner_name)
       select gen_random_uuid(), 'many ' || n, '', '', 'json', '{user.created}', ?, 'o' from generate_series(1, ?) n`,
      [owner.accountId, MANY],
    );
    const many = await db('webhooks').where({ url: '' }).pluck('id');
    for (const row of many as string[]) {
      const place = (column: string): string => `webhooks|${column}|${row}`;
      await db('webhooks')
        .where({ id: row })
        .update({ url: seal(keys, 'http://127.0.0.1:9/', place('url')), secret: seal(keys, row, place('secret')) });
    }
    await db('webhooks').where({ id: many[0] }).update({ secret: 'gone.AAAA' });
    changeKeys(api.config.keysFile, (ring) => ring.sealing.unshift(newSealing('k2')));
    await eventually(() => keys.sealing[0]?.kid === 'k2', 30_000);
    const [counts] = await Promise.all([resealAll(db, keys), save('second')]);
    expect(counts.unreadable).to.equal(1);
    await resealAll(db, keys);
    expect(await sealedBy('k1')).to.deep.equal([]);
    expect((await db('webhooks').where({ id: many[0] }).first('secret')).secret).to.equal('gone.AAAA');
    await api.deps.settings.reload();
    expect(api.deps.settings.get('email.smtp.password')).to.equal('second');
    expect((await shown(id)).secret).to.equal('a secret of the receiver');
    expect((await resealAll(db, keys)).resealed, 'nothing is left').to.equal(0);
  });

  it('notifies those who manage settings of values that no key opens, once, and that all can be read again', async () => {
    const { db, keys, log, vitals } = api.deps;
    await api.given.member();
    const id = await hook();
    await save('of the mail server');
    const { secret } = await db('webhooks').where({ id }).first('secret');
    const { value } = await db('settings').where({ key: 'email.smtp.password' }).first('value');
    const of = (kid: string, sealed: string): string => `${kid}${sealed.slice(sealed.indexOf('.'))}`;
    const sealUnder = async (kid: string): Promise<void> => {
      await db('webhooks')
        .where({ id })
        .update({ secret: of(kid, secret) });
      await db('settings')
        .where({ key: 'email.smtp.password' })
        .update({ value: JSON.stringify(of(kid, value)) });
    };
    const notices = async () => {
      const { items } = (await api.as(owner).listNotifications({})).body;
      return items
        .filter(({ kind }) => kind.startsWith('check-'))
        .map(({ kind, body }) => `${kind} ${body}`)
        .reverse();
    };
    const ending = new AbortController();
    await sealUnder('gone');
    const keeping = keepSealed({ db, keys, log }, ending.signal, 50);
    try {
      const [first] = await eventually(async () => {
        const all = await notices();
        return all.length > 0 && all;
      }, 20_000);
      expect(first).to.match(/^check-failed SealedKeyMismatch, email\.smtp\.password, webhooks 1 /);
      await sleep(500); // many looks
      expect(await notices()).to.have.length(1);
      for (let looks = 0; looks < 4; looks += 1) await vitals.look();
      expect(vitals.state('keys')).to.equal('degraded');
      const { checks } = (await api.anyone.getServerHealth({})).body;
      expect(checks).to.deep.include({ name: 'keys', state: 'degraded' });
      await sealUnder('k1');
      await eventually(async () => (await notices()).length === 2, 20_000);
      expect((await notices())[1]).to.match(/^check-recovered SealedKeyMismatch /);
      expect(await db('notifications').whereNot({ profile_id: owner.profileId })).to.deep.equal([]);
    } finally {
      ending.abort();
      await keeping;
    }
  });
});
