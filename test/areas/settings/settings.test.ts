import { expect } from 'chai';
import { isThisServer } from '#areas/settings/checks.ts';
import { takeOverDeclared } from '#areas/settings/public.ts';
import { forgetWorker, reportWorker } from '#areas/streaming/sessions/offers.store.ts';
import { Settings as Declared } from '#operator/schemas/settings.ts';
import { disconnectDatabase } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { settingKeys, settingTable } from '#platform/settings.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { startOidcServer } from '#support/oidc.ts';
import { declared } from '#support/oidc-flows.ts';
import { atEnd } from '#support/stores.ts';
import { expireSessions } from '#workers/upkeep-jobs.ts';
import type { Work } from '#workers/work.ts';
import { connectDeps } from '../../../api/deps.ts';

const error = (answer: { body: unknown }) =>
  (
    answer.body as {
      error: { code: string; details: Record<string, unknown> & { issues: { path: string[]; code: string }[] } };
    }
  ).error;

describe('Settings', () => {
  let api: Api;
  let owner: Person;
  let admin: Person;
  before(async () => {
    const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'u' };
    api = await startApi({
      FOYER_SETTINGS: JSON.stringify({ 'server.country': 'DE', 'email.smtp.password': 'from-a-secret' }),
      FOYER_MANAGED_BY: JSON.stringify(managedBy),
      FOYER_SERVER_NAME: 'Named outside',
    });
    owner = await api.given.owner();
    admin = await api.given.admin();
    const passwords = api.deps.db('accounts').whereIn('id', [owner.accountId, admin.accountId]);
    await passwords.update({ password_hash: 'theirs' });
  });
  const change = (values: Record<string, unknown>, more: object = {}, who = owner) =>
    api.as(who).updateSettings({ body: { values, ...more } as never });
  const one = async (key: string) => (await api.as(owner).getSetting({ params: { key } })).body;

  it('has every key of the contract, and a resource may own all but those marked N', () => {
    const declared = Object.keys(Declared.shape).sort();
    const ours = settingKeys.filter((key) => !(settingTable[key].marks as readonly string[]).includes('N'));
    expect([...ours].sort()).to.deep.equal(declared);
    expect(settingKeys.length).to.be.within(110, 140);
  });

  it('takes a good default of each for good, and a resource takes it too', () => {
    for (const key of settingKeys) {
      const { schema } = settingTable[key];
      const value = schema.parse(undefined);
      expect(schema.safeParse(value).success, key).to.equal(true);
    }
  });

  describe('getSettings', () => {
    it('returns values, sources and managers, and never a secret', async () => {
      const { body } = await api.as(admin).getSettings();
      const of = (key: string) => body.items.find((item) => item.key === key);
      expect(of('server.country')).to.deep.include({ value: 'DE', source: 'resource' });
      expect(of('server.country')?.managedBy).to.include({ name: 'home' });
      expect(of('server.name')).to.include({ value: 'Named outside', source: 'environment', default: 'Foyer' });
      expect(of('email.smtp.password')).to.include({ value: null, isSet: true, source: 'resource' });
      expect(body.values).to.not.have.property('email.smtp.password');
      expect(JSON.stringify(body)).to.not.include('from-a-secret');
    });

    it('narrows by group, keys and source, and answers 304', async () => {
      const group = await api.as(admin).getSettings({ query: { group: 'live' } });
      expect(group.body.items.map(({ key }) => key))
        .to.include('live.releaseSec')
        .and.have.length(4);
      const keys = await api.as(admin).getSettings({ query: { keys: 'server.name,live.releaseSec' } as never });
      expect(Object.keys(keys.body.values)).to.have.length(2);
      const headers = { 'if-none-match': keys.headers.get('etag') ?? '' };
      const again = await api
        .as(admin)
        .getSettings({ query: { keys: 'server.name,live.releaseSec' } as never, headers });
      expect(again.status).to.equal(304);
    });
  });

  describe('updateSettings', () => {
    it('writes many at once, in force at once, under one more revision, with its history', async () => {
      const before = (await api.as(owner).getSettings()).body.revision;
      const values = { 'server.notice': 'Soup at eight', 'playback.watchedPercent': 85 };
      const { status, body } = await change(values, { note: 'evening' });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body).to.deep.include({ revision: before + 1, changed: Object.keys(values) });
      expect(body.items.map(({ value, source }) => [value, source])).to.deep.equal([
        ['Soup at eight', 'saved'],
        [85, 'saved'],
      ]);
      expect(await one('server.notice')).to.include({ value: 'Soup at eight', source: 'saved' });
      const { items } = (await api.as(owner).listSettingChanges({ query: { key: 'server.notice' } })).body;
      expect(items[0]).to.deep.include({ from: null, to: 'Soup at eight', source: 'saved', note: 'evening' });
      expect(items[0]?.by).to.include({ userId: owner.accountId });
      const events = await api.deps.db('outbox').where({ event: 'settings.changed' }).select('payload');
      expect(JSON.stringify(events)).to.include('server.notice').and.not.include('Soup');
    });

    it('changes nothing and emits nothing when all values are the same', async () => {
      await change({ 'live.releaseSec': 40 });
      const again = (await change({ 'live.releaseSec': 40 })).body;
      const before = (await api.as(owner).getSettings()).body.revision;
      expect(again).to.deep.include({ changed: [], revision: before });
    });

    it('refuses all of it with every issue', async () => {
      const { status, body } = await change({
        'server.notice': 'kept',
        'live.releaseSec': 601,
        'no.such': 1,
        'auth.oidc.roleMap': { staff: 'owner' },
        'email.smtp.security': 'plain',
        'network.trustedProxies': ['10.0.0.0'],
        'server.timeZone': 'Mars/Phobos',
      });
      expect(status).to.equal(400);
      const { issues } = error({ body }).details;
      expect(issues.map(({ path }) => path[2])).to.deep.equal([
        'live.releaseSec',
        'no.such',
        'auth.oidc.roleMap',
        'email.smtp.security',
        'network.trustedProxies',
        'server.timeZone',
      ]);
      expect((await one('server.notice')).value).to.not.equal('kept');
    });

    it('rejects changes of declared settings, naming the resource, and the rest with them', async () => {
      const answer = await change({ 'server.country': 'FR', 'server.notice': 'no' });
      expect(answer.status).to.equal(409);
      expect(error(answer).details).to.deep.include({ reason: 'managed-by-resource', fields: ['server.country'] });
      expect(error(answer).details.managedBy).to.include({ kind: 'MediaServer', name: 'home' });
    });

    it('lets only the owner, confirmed, change settings that are marked so', async () => {
      const values = { 'auth.oidc.name': 'Work' };
      expect(error(await change(values, {}, admin)).details.by).to.equal('owner');
      const key = await api.given.key(owner, ['settings:manage']);
      expect(error(await change(values, {}, key)).details.by).to.equal('owner');
      expect((await change({ 'live.releaseSec': 41 }, {}, key)).status).to.equal(200);
      expect((await change(values)).status).to.equal(200);
      await api.deps
        .db('sessions')
        .where({ id: owner.sessionId })
        .update({ confirmed_until: new Date(0) });
      expect(error(await change({ 'auth.oidc.name': 'Other' })).details.by).to.equal('confirm');
      await api.deps
        .db('sessions')
        .where({ id: owner.sessionId })
        .update({ confirmed_until: new Date(Date.now() + 6e5) });
    });

    it('seals secrets, reports only that they are set, and rejects their masked form', async () => {
      const values = { 'music.listenBrainz': true, 'music.listenBrainzToken': 'lb-canary' };
      const { body } = await change(values);
      expect(body.items.find(({ key }) => key === 'music.listenBrainzToken')).to.include({ value: null, isSet: true });
      const kept = await api.deps
        .db('settings')
        .where({ key: 'music.listenBrainzToken' })
        .first<{ value: string }>('value');
      expect(kept?.value).to.be.a('string').and.not.include('lb-canary');
      await api.deps.settings.reload();
      expect(api.deps.settings.get('music.listenBrainzToken')).to.equal('lb-canary');
      const history = await api.deps.db('setting_changes').where({ key: 'music.listenBrainzToken' });
      expect(JSON.stringify(history)).to.not.include('lb-canary');
      expect(error(await change({ 'music.listenBrainzToken': '••••••' })).details.issues[0]?.code).to.equal(
        'masked_secret',
      );
    });

    it('judges related settings on the result', async () => {
      const issues = error(await change({ 'email.enabled': true })).details.issues;
      expect(issues[0]).to.include({ code: 'incomplete' });
      const whole = { 'email.enabled': true, 'email.smtp.host': 'mail.example', 'email.from': 'foyer@example' };
      expect((await change(whole)).status).to.equal(200);
      expect((await change({ 'email.smtp.host': null })).status).to.equal(400);
      const { warnings } = (await change({ 'transcode.maxWorkers': 0 }, { dryRun: true })).body;
      expect(warnings.map(({ key }) => key)).to.deep.equal(['transcode.maxWorkers']);
      expect((await one('transcode.maxWorkers')).source).to.equal('default');
    });

    it('reports to a late writer what changed meanwhile', async () => {
      const { revision } = (await api.as(owner).getSettings()).body;
      await change({ 'live.bufferMinutes': 30 });
      const answer = await change({ 'live.releaseSec': 1 }, { revision });
      expect(answer.status).to.equal(409);
      expect(error(answer).details).to.deep.include({ reason: 'revision', keys: ['live.bufferMinutes'] });
    });

    it('lets only the owner close the last way in', async () => {
      const values = { 'auth.password.enabled': false, 'auth.passkeys.enabled': false };
      expect(error(await change(values, { dryRun: true }, admin)).details.reason).to.equal('locks-out');
      expect((await change(values, { dryRun: true })).status).to.equal(200);
    });

    it('lets no one disable their own only way in, or require a second factor that they lack', async () => {
      const off = { 'auth.password.enabled': false };
      expect(error(await change(off, { dryRun: true }, admin)).details.reason).to.equal('locks-out');
      const both = { 'auth.twoFactor.requiredRoles': ['admin'] };
      expect(error(await change(both, { dryRun: true }, admin)).details.reason).to.equal('locks-out');
      const proved = await api.given.admin();
      await api.deps.db('sign_in_methods').insert({
        ...{ id: newId(), account_id: proved.accountId, kind: 'passkey', name: 'key' },
        ...{ credential_id: newId(), public_key: Buffer.alloc(1) },
      });
      expect((await change({ ...off, ...both }, { dryRun: true }, proved)).status).to.equal(200);
      const alone = { ...off, 'auth.passkeys.enabled': false };
      expect(error(await change(alone, { dryRun: true }, proved)).details.reason).to.equal('locks-out');
    });

    it('counts a way in that the account has alone: no password, no identity of another provider', async () => {
      const has = async (person: Person, method: object) =>
        api.deps.db('sign_in_methods').insert({ id: newId(), account_id: person.accountId, ...method });
      const passkey = { kind: 'passkey', name: 'key', credential_id: newId(), public_key: Buffer.alloc(1) };
      const reasonOf = async (values: object, who: Person) =>
        error(await change(values as Record<string, unknown>, { dryRun: true }, who))?.details.reason;
      const keyed = await api.given.admin();
      await has(keyed, passkey);
      expect(await reasonOf({ 'auth.passkeys.enabled': false }, keyed)).to.equal('locks-out');
      const passwords = api.deps.db('accounts').where({ id: owner.accountId });
      await passwords.clone().update({ password_hash: null });
      await has(owner, { kind: 'oidc', issuer: 'https://id.example', subject: 'me' });
      const provider = { 'auth.oidc.issuer': 'https://id.example', 'auth.oidc.clientId': 'foyer' };
      expect((await change(provider)).status).to.equal(200);
      expect(await reasonOf({ 'auth.oidc.issuer': null, 'auth.oidc.clientId': null }, owner)).to.equal('locks-out');
      expect(await reasonOf({ 'auth.oidc.issuer': 'https://other.example' }, owner)).to.equal('locks-out');
      await passwords.clone().update({ password_hash: 'theirs' });
      expect((await change({ 'auth.oidc.issuer': null, 'auth.oidc.clientId': null })).status).to.equal(200);
      expect(await reasonOf({ 'auth.password.enabled': false }, owner), 'the owner always may').to.equal(undefined);
    });

    it('uses the values that another replica wrote, not cached ones', async () => {
      await change({ 'live.releaseSec': 50 });
      const row = api.deps.db('settings').where({ key: 'live.releaseSec' });
      await row.clone().update({ value: '51' });
      const { body } = await change({ 'live.releaseSec': 50 });
      expect(body.changed).to.deep.equal(['live.releaseSec']);
      expect((await row.first<{ value: number }>('value')).value).to.equal(50);
    });

    it('rejects invalid networks, origins and addresses, and values that are too large', async () => {
      const values = {
        'webhooks.allowedNetworks': ['999.1.1.1/8'],
        'live.allowedNetworks': ['::::/64'],
        'network.corsOrigins': ['https://foyer.example/'],
        'email.from': 'not an address',
        'auth.oidc.roleMap': Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`g${at}`, 'member'])),
        'playback.defaults': { x: 'x'.repeat(70_000) },
      };
      const { status, body } = await change(values);
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(error({ body }).details.issues.map(({ path }) => path[2])).to.deep.equal(Object.keys(values));
      const good = {
        'webhooks.allowedNetworks': ['10.0.0.0/8', 'fd00::/8'],
        'network.corsOrigins': ['https://foyer.example', 'http://tv.lan:8080'],
        'email.from': 'Foyer <foyer@example.org>',
      };
      expect((await change(good, { dryRun: true })).status).to.equal(200);
    });

    it('keeps a password as it was written, and takes nothing for none', async () => {
      await change({ 'auth.oidc.clientSecret': ' kept as it is ' });
      await api.deps.settings.reload();
      expect(api.deps.settings.get('auth.oidc.clientSecret')).to.equal(' kept as it is ');
      await change({ 'server.notice': 'Soup' });
      const { status, body } = await change({ 'server.notice': '', 'email.smtp.username': '' });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(await one('server.notice')).to.include({ value: null, source: 'default' });
    });

    it('puts the value of the environment in force again', async () => {
      expect((await change({ 'server.name': ' At home ' })).body.items[0]?.value).to.equal('At home');
      const { body } = await change({ 'server.name': null });
      expect(body.items[0]).to.include({ value: 'Named outside', source: 'environment' });
    });

    it('removes a saved value with null', async () => {
      await change({ 'stats.keepDays': 9 });
      expect((await change({ 'stats.keepDays': null })).body.items[0]).to.include({ value: 0, source: 'default' });
      expect(await one('stats.keepDays')).to.include({ value: 0, source: 'default' });
    });

    it('loses no write of two at once', async () => {
      await Promise.all([change({ 'dvr.startPadMs': 1 }), change({ 'dvr.endPadMs': 2 })]);
      expect([(await one('dvr.startPadMs')).value, (await one('dvr.endPadMs')).value]).to.deep.equal([1, 2]);
    });
  });

  it('records changes by a resource in the history when a process applies them, once, and announces them', async () => {
    const { config, db } = api.deps;
    await change({ 'stats.keepDays': 30, 'support.keepDays': 40 });
    const started = async (declared: Record<string, unknown>) => {
      const deps = await connectDeps(
        { ...config, declaredSettings: declared },
        api.deps.log,
        new AbortController().signal,
      );
      atEnd(() => disconnectDatabase(deps.db));
      await Promise.all([1, 2].map(() => takeOverDeclared(deps, new AbortController().signal))); // replicas
      deps.settings.stop();
      deps.vitals.stop();
      deps.keyUses.stop();
      deps.redis.disconnect();
    };
    const history = async () => {
      const { items } = (await api.as(owner).listSettingChanges({ query: { filter: 'source:eq:resource' } })).body;
      return items.map(({ key, from, to, by }) => ({ key, from, to, ...(by && { by }) }));
    };
    const lastChange = async () =>
      (await db('outbox').where({ event: 'settings.changed' }).orderBy('id', 'desc').first<{ payload: unknown }>())
        .payload;
    const declared = { 'server.country': 'DE', 'email.smtp.password': 'from-a-secret' };
    await started(declared);
    const first = [
      { key: 'email.smtp.password', from: null, to: null },
      { key: 'server.country', from: null, to: 'DE' },
    ];
    expect((await history()).sort((a, b) => a.key.localeCompare(b.key))).to.deep.equal(first);
    await started(declared);
    expect(await history(), 'nothing new').to.have.length(2);

    await started({ 'email.smtp.password': 'another', 'server.country': 'DE', 'stats.keepDays': 7 });
    expect((await history()).slice(0, 2).sort((a, b) => a.key.localeCompare(b.key))).to.deep.equal([
      { key: 'email.smtp.password', from: null, to: null },
      { key: 'stats.keepDays', from: 30, to: 7 },
    ]);
    expect(await lastChange()).to.deep.equal({ keys: ['email.smtp.password', 'stats.keepDays'] });
    const kept = JSON.stringify([await db('server_state').first(), await db('setting_changes')]);
    expect(kept).to.not.include('another');
    expect(kept).to.not.include('from-a-secret');

    await started({ 'server.country': 'DE' });
    expect((await history()).slice(0, 2).find(({ key }) => key === 'stats.keepDays')).to.deep.equal({
      ...{ key: 'stats.keepDays', from: 7, to: 30 },
    });
    expect(await history()).to.have.length(6);
  });

  it('setSetting is idempotent and takes one', async () => {
    const set = (value: unknown) => api.as(admin).setSetting({ params: { key: 'scan.concurrent' }, body: { value } });
    expect((await set(3)).body).to.include({ value: 3, source: 'saved' });
    expect((await set(3)).status).to.equal(200);
    const refused = (await set(99)) as unknown as { body: { error: { details: { issues: { path: string[] }[] } } } };
    expect(refused.body.error.details.issues.map(({ path }) => path)).to.deep.equal([['body', 'value']]);
    expect((await api.as(admin).setSetting({ params: { key: 'no.such' }, body: { value: 1 } })).status).to.equal(404);
  });

  it('getSettingsSchema describes each with a schema that holds its default', async () => {
    const { groups, items } = (await api.as(admin).getSettingsSchema()).body;
    expect(items).to.have.length(settingKeys.length);
    expect(groups.map(({ id }) => id)).to.include('auth.oidc');
    const of = (key: string) => items.find((item) => item.key === key);
    expect(of('transcode.cacheBytes')).to.include({ type: 'bytes', unit: 'bytes' });
    expect(of('auth.oidc.clientSecret')).to.include({ secret: true, ownerOnly: true, default: null });
    expect(of('email.digest.day')?.type).to.equal('enum');
    expect(of('server.country')).to.include({ managed: true });
  });

  it('getSettingsSchema uses the requested language, else that of the caller, and lists the present options', async () => {
    const by = api.as(await api.given.admin());
    const shown = (await by.getSettingsSchema({ query: { language: 'fr-CA', group: 'transcode' } })).body;
    expect(shown.groups.map(({ title }) => title)).to.deep.equal(['Transcodage']);
    const mine = async () => (await by.getSettingsSchema({ query: { group: 'server' } })).body.items;
    expect((await mine()).find(({ key }) => key === 'server.timeZone')?.title).to.equal('Time zone');
    expect((await by.updateMe({ body: { language: 'de' } })).status).to.equal(200);
    const zone = (await mine()).find(({ key }) => key === 'server.timeZone');
    expect(zone).to.include({ title: 'Zeitzone', type: 'enum' });
    expect(zone?.schema['enum']).to.include.members(['UTC', 'Europe/Vienna']);
    const jobs = (await by.getSettingsSchema({ query: { group: 'jobs.concurrency' } })).body.items;
    expect(jobs.every(({ key, title }) => title.includes(key.split('.')[2] ?? '-'))).to.equal(true);
    const report = { pod: 'p', encoder: 'h264_qsv', gpu: true, slots: 1, used: 0, idleSince: null };
    await reportWorker(api.deps.redis, 'card', report);
    const hardware = async () =>
      (await by.getSettingsSchema({ query: { group: 'transcode' } })).body.items.find(
        ({ key }) => key === 'transcode.hardware',
      )?.schema['enum'];
    expect(await hardware())
      .to.include.members(['auto', 'off', 'qsv'])
      .and.not.include('vaapi');
    await forgetWorker(api.deps.redis, 'card');
    expect(await hardware()).to.not.include('qsv');
  });

  it('checkSettings tries without saving, and reports a failure as an answer', async () => {
    const transcode = (await api.as(admin).checkSettings({ body: { group: 'transcode' } })).body;
    expect(transcode).to.deep.include({ ok: false });
    const body = { group: 'server', values: { 'server.publicUrl': 'http://127.0.0.1:9' } } as const;
    const server = (await api.as(admin).checkSettings({ body })).body;
    expect(server.ok).to.equal(false);
    expect((await one('server.publicUrl')).value).to.equal(null);
    let last = 200;
    for (let i = 0; i < 10; i += 1) last = (await api.as(admin).checkSettings({ body: { group: 'subtitles' } })).status;
    expect(last).to.equal(429);
  });

  it('checkSettings skips settings that are not served yet, and catalogues of an offline server, without an error', async () => {
    const by = api.as(await api.given.admin());
    for (const group of ['subtitles', 'metadata'] as const) {
      const values = group === 'metadata' ? { 'network.offline': true } : {};
      const { status, body } = await by.checkSettings({ body: { group, values } });
      expect([status, body.ok, body.steps.map(({ state }) => state)]).to.deep.equal([200, true, ['skipped']]);
    }
  });

  it('checkSettings reaches the issuer as sign-in does: a declared one wherever it is, no other in a private network', async () => {
    const oidc = await startOidcServer();
    const home = await startApi({ FOYER_SETTINGS: declared(oidc) });
    const by = home.as(await home.given.owner());
    const step = async (values: Record<string, unknown> = {}) =>
      (await by.checkSettings({ body: { group: 'auth.oidc', values } })).body.steps[0];
    expect(await step()).to.include({ name: 'discovery', state: 'ok' });
    const other = await step({ 'auth.oidc.issuer': `${oidc.issuer}/other` });
    expect(other?.state).to.equal('failed');
    expect(other?.message).to.contain('address');
  });

  it('checkSettings finds this server at an address of the household, and no other', async () => {
    const found = (id: string) => ({ status: 200, body: Buffer.from(JSON.stringify({ id })) });
    expect(isThisServer(api.deps.keys.serverId, found(api.deps.keys.serverId))).to.equal(true);
    expect(isThisServer(api.deps.keys.serverId, found(newId()))).to.equal(false);
    const body = { group: 'server', values: { 'server.publicUrl': 'http://192.168.255.254:9' } } as const;
    const [step] = (await api.as(owner).checkSettings({ body })).body.steps;
    expect(step?.message).to.not.include('not reached from here'); // it was tried
  });

  it('listSettingChanges keeps 400 days', async () => {
    const { db } = api.deps;
    await change({ 'support.keepDays': 77 });
    const row = db('setting_changes').where({ key: 'support.keepDays', after: '77' });
    await row.clone().update({ at: db.raw(`now() - interval '399 days'`) });
    await expireSessions({}, { db } as unknown as Work);
    expect(await row.clone()).to.have.length(1);
    await row.clone().update({ at: db.raw(`now() - interval '401 days'`) });
    await expireSessions({}, { db } as unknown as Work);
    expect(await row).to.have.length(0);
  });

  it('listSettingChanges pages and filters', async () => {
    for (const days of [1, 2, 3]) await change({ 'support.keepDays': days });
    await change({ 'support.keepDays': null });
    const first = (
      await api.as(owner).listSettingChanges({ query: { limit: '2', filter: 'source:eq:saved' } as never })
    ).body;
    expect(first.items).to.have.length(2);
    expect(first.page.hasMore).to.equal(true);
    const reset = (await api.as(owner).listSettingChanges({ query: { filter: 'source:eq:reset' } })).body.items;
    expect(reset.map(({ key }) => key)).to.include('support.keepDays');
    await change({ 'games.savesBytesPerAccount': 1 }, {}, admin);
    const mine = (await api.as(owner).listSettingChanges({ query: { filter: `user:eq:${admin.accountId}` } })).body
      .items;
    expect(mine[0]?.key).to.equal('games.savesBytesPerAccount');
    expect(mine.every(({ by }) => by?.userId === admin.accountId)).to.equal(true);
  });
});
