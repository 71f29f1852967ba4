import { expect } from 'chai';
import { hashPassword } from '#areas/auth/public.ts';
import { putAsideAs } from '#platform/backup/put-aside.ts';
import { newId } from '#platform/ids.ts';
import { storedValue } from '#platform/settings.ts';
import { ABSENT, errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import { type Made, makeBackup } from '#support/backups.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { startApiProcess } from '#support/processes.ts';
import { restoreProcess, unfenced } from '#support/restoring.ts';
import { lookOnce } from '#workers/backup/keeper.ts';

type Plan = {
  token?: string;
  blockers: { code: string }[];
  changes: { accounts: Record<string, string[]>; libraries: Record<string, string[]>; items: object };
  sealed: { openable: number; lost: string[] };
  objects: object;
  migrations: number;
  endsSessions: number;
};

describe('restoreBackup', () => {
  let api: Api;
  let owner: Person;
  let made: Made;
  beforeEach(async function () {
    this.timeout(60_000);
    if (made) return;
    api = await startApi();
    const { deps, given } = api;
    owner = await given.owner();
    await deps
      .db('accounts')
      .where({ id: owner.accountId })
      .update({ username: 'ada', username_folded: 'ada', password_hash: await hashPassword('correct horse battery') });
    await deps.db('server_state').update({ setup_completed_at: new Date() });
    const library = await givenLibrary(deps.db, 'movies', { name: 'Films', name_folded: 'films' });
    for (let i = 0; i < 3; i += 1) await givenItem(deps.db, library);
    await deps
      .db('settings')
      .insert({ key: 'email.smtp.password', value: storedValue('email.smtp.password', 'relay secret', deps.keys) });
    await deps.db('settings').insert({ key: 'oidc.x', value: '"lost.sealed"' });
    await deps.objects.put('foyer-artwork', 'one', 'one');
    await deps.objects.put('foyer-artwork', 'two', 'two');
    made = await makeBackup(api);
    await deps.objects.remove('foyer-artwork', ['two']);
    await deps.db('libraries').delete();
  });

  const send = (who: Person, body: Record<string, unknown> = {}, id = made.id) =>
    api.as(who).restoreBackup({ params: { id }, body });
  const plan = async (): Promise<Plan> => {
    const { status, body } = await send(owner);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as unknown as Plan;
  };
  const refusal = async (answer: Promise<{ status: number; body: unknown }>): Promise<unknown> => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).to.equal(409);
    return errorOf({ body }).details.reason;
  };

  it('is the owner’s alone: admins and keys are refused', async () => {
    expect((await send(await api.given.admin())).status).to.equal(403);
    expect((await send(await api.given.key(owner, ['settings:manage']))).status).to.equal(403);
    expect((await send(owner, {}, ABSENT)).status).to.equal(404);
  });

  it('lists its changes, and writes nothing', async () => {
    const late = await api.given.member();
    const { username } = await api.deps
      .db('accounts')
      .where({ id: late.accountId })
      .first<{ username: string }>('username');
    const before = await api.deps.db('foyer_restore.restores').count({ n: '*' });
    const { changes, sealed, objects, migrations, blockers, token, endsSessions } = await plan();
    expect(changes.libraries).to.deep.equal({ added: ['Films'], removed: [] });
    expect(changes.accounts.removed).to.include(username);
    expect(changes.accounts.added).to.deep.equal([]);
    expect(changes.items).to.deep.equal({ before: 0, after: 3 });
    expect(sealed).to.deep.include({ openable: 1 });
    expect(objects).to.deep.equal({ present: 1, toFetch: 1, missing: 0 });
    expect(migrations).to.equal(0);
    expect(endsSessions).to.be.greaterThan(1);
    expect(blockers).to.deep.equal([]);
    expect(token).to.be.a('string');
    expect(await api.deps.db('foyer_restore.restores').count({ n: '*' })).to.deep.equal(before);
  });

  it('lists the values that a lost key ring requires again', async () => {
    const { keys } = api.deps;
    const kept = keys.sealing;
    keys.sealing = kept.map((one) => ({ ...one, kid: 'another' }));
    try {
      expect((await plan()).sealed).to.deep.equal({ openable: 0, lost: ['email.smtp.password'] });
    } finally {
      keys.sealing = kept;
    }
  });

  it('needs a plan of this half hour, of this backup and version, by this person', async () => {
    expect(await refusal(send(owner, { dryRun: false }))).to.equal('plan-expired');
    expect(await refusal(send(owner, { dryRun: false, token: 'x.y.z' }))).to.equal('plan-expired');
    const { token = '' } = await plan();
    const [, text, seal] = token.split('.');
    expect(await refusal(send(owner, { dryRun: false, token: `9999999999999.${text}.${seal}` }))).to.equal(
      'plan-expired',
    );
    const other = await makeBackup(api);
    expect(await refusal(send(owner, { dryRun: false, token }, other.id))).to.equal('plan-changed');
  });

  it('needs a session that was confirmed', async () => {
    const { token } = await plan();
    const plain = await api.given.again(owner, { confirmed_until: null });
    const refused = await send(plain, { dryRun: false, token });
    expect(refused.status).to.equal(403);
    expect(errorOf(refused).details.by).to.equal('confirm');
  });

  it('names the obstacles in the plan, and again when it begins', async () => {
    const { token } = await plan();
    const { db } = api.deps;
    const row = await db('backups').where({ id: made.id }).first<Record<string, unknown>>();
    await db('backups').where({ id: made.id }).update({ state: 'damaged' });
    const codes = (await plan()).blockers.map(({ code }) => code);
    expect(codes).to.deep.equal(['damaged']);
    expect((await plan()).token).to.equal(undefined);
    const refused = await send(owner, { dryRun: false, token });
    expect(errorOf(refused).details).to.deep.include({ reason: 'blocked' });
    expect(JSON.stringify(errorOf(refused).details.blockers)).to.contain('damaged');
    await db('backups').where({ id: made.id }).update({ state: 'completed', server_version: '99.0.0' });
    expect((await plan()).blockers.map(({ code }) => code)).to.deep.equal(['newer-version']);
    await db('backups')
      .where({ id: made.id })
      .update({ server_version: row.server_version as string });
  });

  it('begins once, appears in the list and as a job, and is cancelled there until it switches', async function () {
    this.timeout(60_000);
    const { token } = await plan();
    const begun = await send(owner, { dryRun: false, token });
    expect(begun.status, JSON.stringify(begun.body)).to.equal(202);
    const { jobId } = begun.body as unknown as { jobId: string };
    expect(begun.body).to.deep.include({ backupId: made.id, state: 'preparing', phase: 'fetching', progress: 0 });
    expect(await refusal(send(owner, { dryRun: false, token }))).to.equal('restore-running');
    const admin = await api.given.admin();
    expect((await api.as(admin).listBackups()).body.restore).to.deep.include({ jobId, state: 'preparing' });
    expect((await api.as(admin).createBackup({ body: {} })).status).to.equal(409);
    expect((await api.as(owner).deleteBackup({ params: { id: made.id } })).status).to.equal(409);
    const cancelled = await api.as(admin).cancelJobs({ body: { ids: [jobId] } });
    expect(cancelled.body.changed + cancelled.body.stopping).to.equal(1);
    expect(await restoreProcess(api).ended).to.equal(0);
    const { restore } = (await api.as(admin).listBackups()).body;
    expect(restore).to.deep.include({ state: 'failed', phase: 'fetching' }); // the notification came at once
    expect(restore?.error).to.deep.include({ reason: 'cancelled' });
    const job = await api.deps.db('jobs').where({ id: jobId }).first<{ state: string }>('state');
    expect(job.state).to.equal('cancelled');
    const retried = await api.as(admin).retryJobs({ body: { ids: [jobId] } });
    expect(retried.body.skipped).to.deep.equal([{ id: jobId, reason: 'not-retriable' }]); // a restore is begun with its plan
  });

  it('deletes the replaced data of a restore once its seven days are over', async () => {
    const { db, keys } = api.deps;
    const [first, later] = [newId(), newId()];
    for (const [id, days] of [
      [first, -1],
      [later, 1],
    ] as const) {
      await db.raw('create schema ??', [putAsideAs(id)]);
      await db.raw(
        `insert into backups (id, state, trigger, place_id, server_id, server_name, server_version, schema_version, objects_mode, keep_until)
         select ?, 'replaced', 'before-restore', place_id, ?, 'Home', '0.1.0', 'x', 'kept', now() + make_interval(days => ?) from backup_settings`,
        [id, keys.serverId, days],
      );
    }
    await lookOnce({ ...api.deps, keys });
    const schemas = await db('pg_namespace').whereLike('nspname', 'foyer\\_replaced%').pluck<string[]>('nspname');
    expect(schemas).to.deep.equal([putAsideAs(later)]);
    expect(await db('backups').where({ state: 'replaced' }).pluck('id')).to.deep.equal([later]);
    expect((await api.as(owner).deleteBackup({ params: { id: later } })).status).to.equal(204);
    expect(await db('pg_namespace').whereLike('nspname', 'foyer\\_replaced%').pluck('nspname')).to.deep.equal([]);
  });

  it('opens a sealed backup with the passphrase that is kept or given, and takes five wrong ones a minute', async function () {
    this.timeout(120_000);
    const passphrase = 'a passphrase of many words';
    const changed = await api
      .as(owner)
      .updateBackupSettings({ body: { encryption: { mode: 'passphrase', passphrase } } });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    const library = await givenLibrary(api.deps.db, 'movies', { name: 'Films', name_folded: 'films' });
    for (let i = 0; i < 3; i += 1) await givenItem(api.deps.db, library);
    await api.deps.objects.put('foyer-artwork', 'two', 'two');
    made = await makeBackup(api);
    await api.deps.objects.remove('foyer-artwork', ['two']);
    await api.deps.db('libraries').delete();
    expect((await plan()).blockers).to.deep.equal([]);
    const blocked = await send(owner, { passphrase: 'another passphrase' });
    expect((blocked.body as unknown as Plan).blockers.map(({ code }) => code)).to.deep.equal(['wrong-passphrase']);
    await api.deps.db('backup_settings').update({ passphrase: null, salt: null, fingerprint: null });
    expect((await plan()).blockers.map(({ code }) => code)).to.deep.equal(['wrong-passphrase']);
    for (let i = 0; i < 4; i += 1) await send(owner, { passphrase });
    expect((await send(owner, { passphrase })).status).to.equal(429);
    await api.deps.redis.flushdb();
  });

  it('restores: the next person to sign in finds the server of the backup, the job done and the way back', async function () {
    this.timeout(180_000);
    const passphrase = 'a passphrase of many words'; // not kept any more
    const { body } = await send(owner, { passphrase });
    const { token } = body as unknown as Plan;
    expect((await send(owner, { dryRun: false, token, passphrase })).status).to.equal(202);
    expect(await restoreProcess(api).ended).to.equal(0);
    const db = unfenced(api.config.databaseUrl, api.deps.log);
    expect(await db('libraries').pluck('name')).to.deep.equal(['Films']);
    expect(await db('items').count({ n: '*' })).to.deep.equal([{ n: 3 }]);
    const { url } = await startApiProcess(api);
    const login = await fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-id': 'a-new-browser-of-ada', 'x-client-name': 'test' },
      body: JSON.stringify({ username: 'ada', password: 'correct horse battery' }),
    });
    expect(login.status, await login.clone().text()).to.equal(200);
    const { accessToken } = (await login.json()) as { accessToken: string };
    const headers = { authorization: `Bearer ${accessToken}`, 'x-client-id': 'a-new-browser-of-ada' };
    const listed = await fetch(`${url}/api/v1/backups`, { headers });
    const { items, restore } = (await listed.json()) as {
      items: { id: string; state: string }[];
      restore: Record<string, unknown>;
    };
    expect(restore).to.deep.include({ backupId: made.id, state: 'completed', phase: 'reopening', progress: 1 });
    expect(items.find(({ id }) => id === restore.replacedBackupId)?.state).to.equal('replaced');
    expect(items.some(({ id }) => id === made.id)).to.equal(true); // the objects at the destination are still known
    const jobs = await db('jobs').where({ kind: 'backup.restore' }).pluck('state');
    expect(jobs).to.deep.equal(['completed']);
    expect(
      Buffer.concat((await (await api.deps.objects.get('foyer-artwork', 'two')).toArray()) as Buffer[]).toString(),
    ).to.equal('two');
  });
});
