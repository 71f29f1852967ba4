import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { prepareServer } from '#areas/setup/public.ts';
import { reportWorker } from '#areas/streaming/sessions/offers.store.ts';
import { TRIALS } from '#areas/streaming/sessions/trials.store.ts';
import { newSecret } from '#platform/ids.ts';
import { languages } from '#platform/languages.ts';
import { ALIVE } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { type Api, clientFor, startApi } from '#support/api.ts';
import { issueOf } from '#support/signing-in.ts';
import { eventually } from '#support/stores.ts';
import { SOFTWARE } from '#workers/transcode/encoders.ts';
import { answerTrials } from '#workers/transcode/trials.ts';

const CODE = '7gdmdrmw2b1wsvpb7r5pdhsq2k';
const PASSWORD = 'a good long one';
const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('Setup', () => {
  let api: Api;
  const claim = async () => {
    const answer = await api.anyone.claimServer({ body: { code: CODE } });
    return clientFor(api.url, { authorization: `Bearer ${answer.body.ticket}` });
  };

  beforeEach(async () => {
    api = await startApi({
      FOYER_CLAIM_SHA256: createHash('sha256').update(CODE).digest('hex'),
      FOYER_CLAIM_FROM: 'link',
    });
    for (const folder of ['movies', 'shows']) mkdirSync(join(api.mediaRoot, folder));
    writeFileSync(join(api.mediaRoot, 'movies', 'a film (2020).mkv'), '');
    symlinkSync('/etc', join(api.mediaRoot, 'outside'));
  });

  it('shows an anonymous caller little, and accepts the code in any letter case with blanks and dashes', async () => {
    const state = await api.anyone.getSetup();
    expect(state.body).to.deep.equal({ step: 'claim', claimed: false, serverName: 'Foyer', languages: [...languages] });
    expect((await api.anyone.getSetupClaim()).body).to.include({ required: true, codeFrom: 'link', claimedAt: null });
    const wrong = await api.anyone.claimServer({ body: { code: 'x'.repeat(26) } });
    expect(wrong.status).to.equal(401);
    expect(errorOf(wrong).details.triesLeft).to.equal(9);
    const spelt = `${CODE.slice(0, 13).toUpperCase()} - ${CODE.slice(13)}`;
    expect((await api.anyone.claimServer({ body: { code: spelt } })).status).to.equal(201);
  });

  it('requires no code over loopback where that is configured, and one from any other address', async () => {
    const open = await startApi({ FOYER_OPEN_SETUP: '1', FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
    expect((await open.anyone.getSetupClaim()).body.required).to.equal(false);
    const elsewhere = { headers: { 'x-forwarded-for': '203.0.113.9' } };
    expect((await open.anyone.getSetupClaim(elsewhere)).body.required).to.equal(true);
    expect((await open.anyone.claimServer({ body: {}, ...elsewhere })).status).to.equal(401);
    expect((await open.anyone.claimServer({ body: {} })).body.ticket).to.match(/^foyst_/);
    expect((await api.anyone.claimServer({ body: {} })).status, 'not configured').to.equal(401);
  });

  it('blocks the eleventh try of a minute', async () => {
    for (let i = 0; i < 10; i++) await api.anyone.claimServer({ body: { code: 'no' } });
    expect((await api.anyone.claimServer({ body: { code: CODE } })).status).to.equal(429);
  });

  it('returns 401 without a ticket before it reads the request', async () => {
    const wrong = { body: { noSuchField: 1 } };
    expect((await api.anyone.saveSetupDraft(wrong)).status).to.equal(401);
    expect((await api.anyone.completeSetup(wrong)).status).to.equal(401);
    expect((await api.anyone.runSetupChecks(wrong)).status).to.equal(401);
    expect((await api.anyone.listSetupFolders({ query: { rootId: 'x', noSuchParameter: 1 } })).status).to.equal(401);
  });

  it('answers only the latest ticket, and that ticket opens nothing else', async () => {
    const first = await claim();
    const second = await claim();
    expect((await first.listSetupFolders({ query: { rootId: api.given.storageId } })).status).to.equal(401);
    expect((await second.listSetupFolders({ query: { rootId: api.given.storageId } })).status).to.equal(200);
    expect((await second.listLibraries()).status).to.equal(401);
  });

  it('lists folders below the root with their contents, and nothing outside it', async () => {
    const me = await claim();
    const rootId = api.given.storageId;
    const top = await me.listSetupFolders({ query: { rootId } });
    const movies = top.body.items.find((folder) => folder.name === 'movies');
    expect(movies).to.deep.include({ path: 'movies', suggestedType: 'movies' });
    expect(movies?.files.video).to.equal(1);
    for (const path of ['outside', 'nowhere']) {
      expect((await me.listSetupFolders({ query: { rootId, path } })).status, path).to.equal(404);
    }
    for (const path of ['../..', '/etc']) {
      expect((await me.listSetupFolders({ query: { rootId, path } })).status, path).to.equal(400);
    }
  });

  it('reports where a folder has more content than was listed', async () => {
    const me = await claim();
    const rootId = api.given.storageId;
    const path = 'movies';
    for (let i = 0; i < 4999; i++) writeFileSync(join(api.mediaRoot, path, `${i}.txt`), '');
    expect((await me.listSetupFolders({ query: { rootId, path } })).body.truncated).to.equal(false);
    mkdirSync(join(api.mediaRoot, path, 'one more'));
    expect((await me.listSetupFolders({ query: { rootId, path } })).body.truncated).to.equal(true);
  });

  it('requires the ticket before it parses the body, and is over before that too', async () => {
    const odd = [
      () => api.anyone.saveSetupDraft({ body: { nonsense: 1 } }),
      () => api.anyone.completeSetup({ body: {} }),
      () => api.anyone.runSetupChecks({ body: { checks: ['none'] } }),
      () => api.anyone.listSetupFolders({ query: { rootId: 'none' } }),
    ];
    for (const send of odd) expect((await send()).status).to.equal(401);
    const me = await claim();
    expect((await me.completeSetup({ body: { username: 'ana', password: PASSWORD } })).status).to.equal(201);
    const kept = await api.deps.db('server_state').first('claim_sha256', 'ticket_sha256', 'setup_draft');
    expect(Object.values(kept), 'code, ticket and draft are gone').to.deep.equal([null, null, null]);
    for (const send of odd) expect(errorOf(await send()).code).to.equal('SETUP_ALREADY_COMPLETE');
  });

  it('reports the faults of a draft before it reports that another browser was first', async () => {
    const me = await claim();
    const folders = [{ rootId: api.given.storageId, path: 'nowhere' }];
    const libraries = [{ name: 'A', type: 'movies', folders }];
    expect((await me.saveSetupDraft({ body: { revision: 7, libraries } })).status).to.equal(400);
    expect(errorOf(await me.saveSetupDraft({ body: { revision: 7 } })).details.reason).to.equal('revision');
  });

  it('can be done by script in three calls, and makes owner, libraries and first scans in one step', async () => {
    const me = await claim();
    const library = (name: string) => ({
      name,
      type: name.toLowerCase(),
      folders: [{ rootId: api.given.storageId, path: name.toLowerCase() }],
    });
    const draft = {
      revision: 0,
      serverName: 'Home',
      timeZone: 'Europe/Paris',
      libraries: [library('Movies'), library('Shows')],
    };
    expect((await me.saveSetupDraft({ body: draft })).body).to.include({ step: 'checks', claimed: true });
    expect(errorOf(await me.saveSetupDraft({ body: draft })).details).to.deep.include({
      reason: 'revision',
      revision: 1,
    });
    const done = await me.completeSetup({ body: { username: 'ana', password: PASSWORD } });
    expect(done.status, JSON.stringify(done.body)).to.equal(201);
    const owner = clientFor(api.url, { authorization: `Bearer ${done.body.accessToken}` });
    expect((await owner.listLibraries()).body.map((one) => [one.name, one.state])).to.deep.equal([
      ['Movies', 'scanning'],
      ['Shows', 'scanning'],
    ]);
    await api.deps.settings.reload();
    expect((await api.anyone.getServerInfo()).body).to.include({ name: 'Home', timeZone: 'Europe/Paris' });
    for (const answer of [
      await api.anyone.getSetup(),
      await me.getSetup(),
      await api.anyone.claimServer({ body: { code: CODE } }),
    ]) {
      expect(answer.status).to.equal(409);
      expect(errorOf(answer).code).to.equal('SETUP_ALREADY_COMPLETE');
    }
    expect((await api.anyone.login({ body: { username: 'ANA', password: PASSWORD } })).status).to.equal(200);
  });

  it('lists the libraries that resources declare, and creates none of them twice', async () => {
    const me = await claim();
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const managedBy = { kind: 'Library', namespace: 'media', name: 'films', uid: 'uid-films' } as const;
    await operator.createLibrary({ body: { name: 'Films', type: 'movies', managedBy } });
    const state = (await me.getSetup()).body;
    expect(state.managed).to.deep.equal(['libraries.Films']);
    expect(state.version).to.match(/^\d+\.\d+\.\d+/);
    const draft = {
      revision: 0,
      libraries: ['films', 'Others'].map((name) => ({ name, type: 'movies', folders: [] })),
    };
    const done = await me.completeSetup({ body: { username: 'ana', password: PASSWORD, draft } });
    expect(done.status, JSON.stringify(done.body)).to.equal(201);
    const owner = clientFor(api.url, { authorization: `Bearer ${done.body.accessToken}` });
    expect((await owner.listLibraries()).body.map(({ name }) => name)).to.have.members(['Films', 'Others']);
  });

  it('names every fault of a draft, and a refused completion leaves nothing behind', async () => {
    const me = await claim();
    const rootId = api.given.storageId;
    const folders = [
      { rootId, path: 'movies' },
      { rootId, path: 'nowhere' },
      { rootId, path: '' },
    ];
    const bad = await me.saveSetupDraft({ body: { revision: 0, libraries: [{ name: 'A', type: 'movies', folders }] } });
    const issues = errorOf(bad).details.issues as { code: string }[];
    expect(issues.map((issue) => issue.code)).to.deep.equal(['no_such_folder', 'folder_overlap']);
    const wrong = { revision: 0, publicUrl: 'https://home.example/foyer', settings: { 'subtitles.model': '' } };
    const faults = errorOf(await me.saveSetupDraft({ body: wrong })).details.issues as { path: string[] }[];
    expect(faults.map(({ path }) => path)).to.deep.equal([
      ['body', 'publicUrl'],
      ['body', 'settings', 'subtitles.model'],
    ]);
    const unknown = { revision: 0, libraries: [{ name: 'A', type: 'movies', folders: [], agents: ['none'] }] };
    expect((await me.saveSetupDraft({ body: unknown })).status).to.equal(400);
    expect((await me.completeSetup({ body: { username: 'ana', password: 'password' } })).status).to.equal(400);
    const draft = { revision: 0, libraries: [{ name: 'B', type: 'movies', folders: [{ rootId, path: 'nowhere' }] }] };
    expect((await me.completeSetup({ body: { username: 'ana', password: PASSWORD, draft } })).status).to.equal(400);
    expect(await api.deps.db('accounts').where({ is_system: false }).select('id')).to.deep.equal([]);
    expect((await me.getSetup()).status).to.equal(200);
  });

  it('lets one of two at once become the owner', async () => {
    const me = await claim();
    const answers = await Promise.all(
      ['ana', 'ben'].map((username) => me.completeSetup({ body: { username, password: PASSWORD } })),
    );
    expect(answers.map((answer) => answer.status)).to.have.members([201, 409]);
  });

  it('keeps the ticket as a cookie on request, and changes nothing by it without X-Client-Id', async () => {
    const answer = await api.anyone.claimServer({ body: { code: CODE, keep: 'cookie' } });
    expect(answer.body).to.not.have.property('ticket');
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const me = clientFor(api.url, { cookie });
    expect((await me.getSetup()).body.claimed).to.equal(true);
    expect(errorOf(await me.saveSetupDraft({ body: { revision: 0 } })).details.header).to.equal('X-Client-Id');
  });

  it('tries the stores of the server and reports obstacles to its completion', async () => {
    const me = await claim();
    const ran = await me.runSetupChecks({
      body: { checks: ['database', 'redis', 'objects', 'storage', 'clock', 'workers'] },
    });
    expect(ran.body.items.map((check) => [check.id, check.state])).to.deep.equal([
      ['database', 'ok'],
      ['redis', 'ok'],
      ['objects', 'ok'],
      ['storage', 'ok'],
      ['clock', 'ok'],
      ['workers', 'failed'],
    ]);
    expect(ran.body.canComplete).to.equal(false);
  });

  it('lists the missing parts: the checks, until they pass, and a test encoding with each encoder', async () => {
    const { deps, config } = api;
    const me = await claim();
    const folders = [{ rootId: api.given.storageId, path: 'movies' }];
    const step = async () => (await me.getSetup()).body.step;
    const save = (revision: number, libraries: object[]) => me.saveSetupDraft({ body: { revision, libraries } });
    expect(await step()).to.equal('server');
    await save(0, []);
    expect(await step()).to.equal('libraries');
    await save(1, [{ name: 'Movies', type: 'movies', folders }]);
    const failed = await me.runSetupChecks({ body: { checks: ['encoders', 'ffmpeg', 'database', 'workers'] } });
    expect(failed.body.items.map(({ state }) => state)).to.deep.equal(['failed', 'failed', 'ok', 'failed']);
    expect(await step()).to.equal('checks');

    const pool = new pg.Client({ connectionString: config.databaseUrl });
    await pool.connect();
    const end = answerTrials({ redis: deps.redis, encoder: SOFTWARE, config, log: deps.log });
    try {
      await pool.query('select pg_advisory_lock($1, 1)', [ALIVE]);
      const report = { pod: 'p', encoder: 'libx264', gpu: false, slots: 1, used: 0, idleSince: null };
      await reportWorker(deps.redis, 'w', report);
      await eventually(async () => (await deps.redis.pubsub('NUMSUB', TRIALS))[1] === 1);
      const ran = (await me.runSetupChecks({ body: { checks: ['encoders', 'ffmpeg', 'database', 'workers'] } })).body;
      expect(ran.items[0]?.summary).to.equal('A second was encoded by libx264');
      expect(ran.canComplete).to.equal(true);
    } finally {
      end();
      await pool.end();
    }
    expect(await step()).to.equal('owner');
    expect((await me.getSetup()).body.version).to.match(/^\d+\.\d+\.\d+/);
  });

  it('tries an accelerator where a transcode worker chose one, and reports when there is nothing to try', async () => {
    const me = await claim();
    const { deps, config } = api;
    const run = async (): Promise<Map<string, string[]>> => {
      const { items } = (await me.runSetupChecks({ body: { checks: ['gpu', 'speech-model', 'catalogues'] } })).body;
      return new Map(items.map(({ id, state, summary }) => [id, [state, summary]]));
    };
    await saveSettings(deps.db, { 'network.offline': true }, null);
    await deps.settings.reload();
    const nothing = await run();
    expect([...nothing.values()].map(([state]) => state)).to.deep.equal(['skipped', 'skipped', 'skipped']);
    const end = answerTrials({ redis: deps.redis, encoder: { ...SOFTWARE, name: 'nvenc' }, config, log: deps.log });
    try {
      await eventually(async () => (await deps.redis.pubsub('NUMSUB', TRIALS))[1] === 1);
      expect((await run()).get('gpu')).to.deep.equal(['ok', 'A second was encoded by nvenc']);
    } finally {
      end();
    }
    await saveSettings(deps.db, { 'transcode.hardware': 'qsv' }, null);
    await deps.settings.reload();
    expect((await run()).get('gpu')?.[0]).to.equal('warning');
    await saveSettings(deps.db, { 'transcode.hardware': 'off' }, null);
    await deps.settings.reload();
    expect((await run()).get('gpu')?.[0]).to.equal('skipped');
  });

  it('shows libraries that resources created, creates none of them twice, and writes its choices into the history', async () => {
    const me = await claim();
    const rootId = api.given.storageId;
    const managedBy = { kind: 'Library', namespace: 'media', name: 'movies', uid: 'u1' };
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const movies = { name: 'Movies', type: 'movies', folders: [{ storageId: rootId, path: 'movies' }], managedBy };
    expect((await operator.createLibrary({ body: movies })).status).to.equal(201);
    const draft = (libraries: object[]) => ({ revision: 0, serverName: 'Home', libraries });
    const same = { name: 'movies', type: 'movies', folders: [{ rootId, path: 'movies' }] };
    const inside = { name: 'Other', type: 'movies', folders: [{ rootId, path: 'movies' }] };
    expect(issueOf(await me.saveSetupDraft({ body: draft([inside]) }))).to.equal('folder_overlap');
    const saved = await me.saveSetupDraft({ body: draft([same]) });
    expect(saved.body.managed).to.deep.equal(['libraries.Movies']);
    expect(saved.body.step).to.equal('checks');
    const done = await me.completeSetup({ body: { username: 'ana', password: PASSWORD } });
    expect(done.status, JSON.stringify(done.body)).to.equal(201);
    const owner = clientFor(api.url, { authorization: `Bearer ${done.body.accessToken}` });
    expect((await owner.listLibraries()).body.map(({ name }) => name)).to.deep.equal(['Movies']);
    const { items } = (await owner.listSettingChanges()).body;
    expect(items.map(({ key, to, by }) => [key, to, by?.userId])).to.deep.equal([
      ['server.name', 'Home', done.body.account.id],
    ]);
  });

  it('rejects changes of declared settings, whatever part of the draft holds them', async () => {
    const settings = JSON.stringify({ 'server.name': 'Declared', 'playback.watchedPercent': 80 });
    const sha256 = createHash('sha256').update(CODE).digest('hex');
    api = await startApi({ FOYER_CLAIM_SHA256: sha256, FOYER_SETTINGS: settings });
    const me = await claim();
    const refused = await me.saveSetupDraft({
      body: { revision: 0, serverName: 'Other', settings: { 'playback.watchedPercent': 90 } },
    });
    expect(refused.status).to.equal(409);
    expect(errorOf(refused).details).to.deep.include({
      reason: 'managed-by-resource',
      fields: ['server.name', 'playback.watchedPercent'],
    });
    expect((await me.saveSetupDraft({ body: { revision: 0, serverName: 'Declared' } })).status).to.equal(200);
  });

  it('is over as soon as an owner is there, also where the mark of it was lost', async () => {
    const me = await claim();
    await api.given.owner();
    for (const answer of [
      await api.anyone.getSetup(),
      await me.getSetup(),
      await api.anyone.claimServer({ body: { code: CODE } }),
    ])
      expect(errorOf(answer).code).to.equal('SETUP_ALREADY_COMPLETE');
  });

  it('takes no password that is the address of the owner', async () => {
    const me = await claim();
    const body = { username: 'ana', email: 'ana@example.org', password: 'Ana@example.org' };
    const refused = errorOf(await me.completeSetup({ body }));
    expect((refused.details.issues as { code: string }[])[0]?.code).to.equal('weak_password');
  });

  it('lets the key of the operator before a rotation count for ten minutes more', async () => {
    const { deps, url } = api;
    const [old, fresh] = [newSecret('foyer_'), newSecret('foyer_')];
    const rotate = (key: string) => {
      const operatorKeySha256 = createHash('sha256').update(key).digest('hex');
      return prepareServer(deps.db, { ...deps.config, operatorKeySha256 }, deps.keys);
    };
    const status = async (key: string) => (await clientFor(url, { authorization: `Bearer ${key}` }).listUsers()).status;
    await rotate(old);
    await rotate(fresh);
    await rotate(fresh);
    expect([await status(old), await status(fresh)]).to.deep.equal([200, 200]);
    const ending = deps.db('api_keys').where({ operator: true }).whereNotNull('expires_at');
    const [{ seconds = 0 } = {}] = await ending
      .clone()
      .orderBy('created_at', 'desc')
      .select(deps.db.raw('extract(epoch from expires_at - now())::int as seconds'));
    expect(seconds).to.be.within(480, 600);
    await ending.clone().update({ expires_at: new Date(Date.now() - 1000) });
    expect([await status(old), await status(fresh)]).to.deep.equal([401, 200]);
    await rotate(fresh);
    expect(await ending.clone()).to.deep.equal([]);
    await rotate(old);
    await rotate(fresh);
    expect([await status(old), await status(fresh)], 'back and forth').to.deep.equal([200, 200]);
  });

  it('runs checks one at a time, and ten times an hour', async () => {
    const me = await claim();
    const run = () => me.runSetupChecks({ body: { checks: ['clock'] } });
    await api.deps.redis.set('setup:checks', '1');
    expect((await run()).status, 'while another runs').to.equal(429);
    await api.deps.redis.del('setup:checks');
    for (let i = 0; i < 9; i += 1) expect((await run()).status).to.equal(200);
    const refused = await run();
    expect([refused.status, errorOf(refused).details.retryAfterSec]).to.deep.equal([429, 3600]);
  });
});
