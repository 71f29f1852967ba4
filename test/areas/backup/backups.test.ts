import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPlace } from '#areas/backup/public.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { enqueueBackup, makeBackup, namesAt, placeOf, workOf } from '#support/backups.ts';
import type { Person } from '#support/given.ts';
import { createBackup } from '#workers/backup/create.ts';
import { applyKeeping } from '#workers/backup/keep-rules.ts';
import { type KeeperDeps, lookOnce } from '#workers/backup/keeper.ts';
import { sweepLoose } from '#workers/backup/loose.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PASSPHRASE = 'correct horse battery';
const BUILTIN = '00000000-0000-7000-8000-000000000001';

const reasonOf = ({ body }: Answered): unknown =>
  (body as unknown as { error: { details: { reason?: string } } }).error.details.reason;

describe('backups', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let me: TestClient;
  beforeEach(async () => {
    api = await startApi();
    owner = await api.given.owner();
    me = api.as(owner);
  });

  const folder = (): string => join(new URL(api.config.objectsUrl).pathname, 'foyer-backups');
  const listed = async (query: Record<string, string | boolean> = {}) => (await me.listBackups({ query })).body.items;
  const keeper = (): KeeperDeps => ({ ...workOf(api), keys: api.deps.keys });
  const later = (ms: number): Date => new Date(Date.now() + ms);
  const patch = (body: object, headers: Record<string, string> = {}) => me.updateBackupSettings({ body, headers });

  describe('requested', () => {
    it('wait as a job, one at a time: a second request returns the first', async () => {
      const body = { note: 'Before the new disks', pinned: true, keepDays: 30, objects: 'all' };
      const { status, body: made } = await me.createBackup({ body });
      expect(status).to.equal(202);
      expect(made).to.deep.include({ state: 'queued', trigger: 'person', note: body.note, pinned: true, progress: 0 });
      expect(made.byUserId).to.equal(owner.accountId);
      expect(Date.parse(made.keepUntil ?? '') - Date.now()).to.be.within(29.9 * DAY_MS, 30 * DAY_MS);
      const again = await me.createBackup();
      expect([again.status, again.body.id]).to.deep.equal([200, made.id]);
      const { body: jobs } = await me.listJobs({ query: { kind: 'backup.create' } });
      expect(jobs.items.map(({ id, target }) => [id, target?.id])).to.deep.equal([[made.jobId, made.id]]);
      await createBackup({ backupId: made.id }, workOf(api, { jobId: made.jobId ?? '' }));
      const { body: done, headers } = await me.getBackup({ params: { id: made.id } });
      expect(done).to.deep.include({ state: 'completed', restorable: true, encrypted: false });
      expect(done).to.not.have.any.keys('progress', 'phase', 'error');
      expect(done.database.rows).to.be.greaterThan(0);
      expect(done.sizeBytes).to.equal(done.database.sizeBytes + done.objects.sizeBytes);
      const same = { 'if-none-match': headers.get('etag') ?? '' };
      expect((await me.getBackup({ params: { id: made.id }, headers: same })).status).to.equal(304);
    });

    it('are cancelled with their job, while they wait or run', async () => {
      const { body: made } = await me.createBackup();
      await me.cancelJobs({ body: { ids: [made.jobId] } });
      expect((await me.getBackup({ params: { id: made.id } })).body.state).to.equal('cancelled');
      expect((await me.createBackup()).status).to.equal(202);
      const running = (await listed({ state: 'queued' }))[0];
      const cancelled = AbortSignal.abort('cancelled');
      const attempt = createBackup({ backupId: running?.id ?? '' }, workOf(api, { signal: cancelled }));
      expect(
        await attempt.then(
          () => 'whole',
          () => 'ended',
        ),
      ).to.equal('ended');
      expect((await listed()).map(({ state }) => state)).to.deep.equal(['cancelled', 'cancelled']);
      expect(await namesAt(await placeOf(api), 'backups/')).to.deep.equal([]);
    });

    it('are refused at once where they would fail: encryption-required, destination-unreachable, no-space, restore-running', async () => {
      await me.updateSettings({ body: { values: { 'backup.requireEncryption': 'always' } } });
      expect(reasonOf(await me.createBackup())).to.equal('encryption-required');
      expect((await patch({ encryption: { mode: 'passphrase', passphrase: PASSPHRASE } })).status).to.equal(200);
      expect((await me.createBackup()).status).to.equal(202);
      await api.deps.db('backups').delete();
      const destination = { kind: 'storage', storage: { storageId: api.given.storageId, path: 'backups' } };
      await api.deps.db('storages').update({ state: 'available' });
      expect((await patch({ destination })).status).to.equal(200);
      rmSync(join(api.mediaRoot, 'backups'), { recursive: true });
      expect(reasonOf(await me.createBackup())).to.equal('destination-unreachable');
      const { destination: shown } = (await me.getBackupSettings()).body;
      expect(shown).to.include({ state: 'unreachable' });
      mkdirSync(join(api.mediaRoot, 'backups'));
      const place = (await api.deps.db('backup_settings').first<{ place_id: string }>()).place_id;
      await api.deps.db('backups').insert({
        id: '01900000-0000-7000-8000-00000000beef',
        state: 'completed',
        trigger: 'schedule',
        place_id: place,
        server_id: api.deps.keys.serverId,
        server_name: '',
        server_version: '0',
        schema_version: '',
        objects_mode: 'kept',
        database_bytes: 2 ** 52,
      });
      expect(reasonOf(await me.createBackup())).to.equal('no-space');
      await api.deps.db('backups').delete();
      const id = '01900000-0000-7000-8000-00000000cafe';
      await api.deps
        .db('jobs')
        .insert({ id, kind: 'backup.restore', queue: 'maintenance', state: 'active', payload: '{}' });
      expect(reasonOf(await me.createBackup())).to.equal('restore-running');
    });
  });

  describe('listed', () => {
    it('the newest first, by size, state and trigger, in pages', async () => {
      const ids = [];
      for (const trigger of ['person', 'schedule', 'person'] as const)
        ids.unshift((await makeBackup(api, { trigger })).id);
      await enqueueBackup(api);
      expect((await listed({ state: 'completed' })).map(({ id }) => id)).to.deep.equal(ids);
      expect((await listed({ trigger: 'schedule' })).map(({ id }) => id)).to.deep.equal([ids[1]]);
      expect((await listed({ state: 'completed,queued' })).length).to.equal(4);
      const sizes = (await listed({ sort: '-sizeBytes', state: 'completed' })).map(({ sizeBytes }) => sizeBytes);
      expect(sizes).to.deep.equal(sizes.toSorted((a, b) => b - a));
    });

    it('are found at the destination, of this or another server, and marked missing when gone from there', async () => {
      const { id } = await makeBackup(api);
      const other = await startApi({ FOYER_OBJECTS_URL: api.config.objectsUrl });
      const theirs = other.as(await other.given.owner());
      const { body } = await theirs.listBackups({ query: { refresh: true } });
      expect(body.items).to.have.length(1);
      expect(body.items[0]).to.deep.include({
        id,
        trigger: 'found',
        serverId: api.deps.keys.serverId,
        state: 'completed',
      });
      expect((await theirs.listBackups({ query: { trigger: 'found' } })).body.items).to.have.length(1);
      const strange = '01900000-0000-7000-8000-00000000aaaa';
      const broken = '01900000-0000-7000-8000-00000000bbbb';
      for (const [name, text] of [
        [strange, '{"format":"other/1"}'],
        [broken, '{"format":"foyer-backup/1"}'],
      ] as const) {
        mkdirSync(join(folder(), 'backups', name), { recursive: true });
        writeFileSync(join(folder(), 'backups', name, 'manifest.json'), text);
      }
      const place = join(folder(), 'backups', id, 'manifest.json');
      rmSync(place);
      const found = await listed({ refresh: true });
      const of = (wanted: string) => found.find((one) => one.id === wanted);
      expect(of(id)).to.include({ state: 'missing', restorable: false });
      expect(of(strange)).to.include({ state: 'damaged', notRestorableReason: 'other-format' });
      expect(of(broken)).to.include({ state: 'damaged', notRestorableReason: 'damaged' });
      writeFileSync(place, 'late');
      expect((await listed({ refresh: true })).find((one) => one.id === id)?.state, 'once a minute').to.equal(
        'missing',
      );
      await api.deps.db('backup_places').update({ listed_at: new Date(Date.now() - 61_000) });
      expect((await listed({ refresh: true })).find((one) => one.id === id)?.state).to.equal('completed');
    });

    it('report which ones this server cannot restore: a newer version, another passphrase', async () => {
      const { id } = await makeBackup(api);
      const reason = async (): Promise<unknown> => {
        const { restorable, notRestorableReason } = (await me.getBackup({ params: { id } })).body;
        return restorable ? 'none' : notRestorableReason;
      };
      expect(await reason()).to.equal('none');
      const { db } = api.deps;
      await db('backups').update({ server_version: '99.0.0' });
      expect(await reason()).to.equal('newer-version');
      await db('backups').update({ server_version: '0.0.1', schema_version: '99990101000000_later' });
      expect(await reason()).to.equal('newer-version');
      await db('backups').update({ schema_version: '20261121100000_accounts_create' });
      expect(await reason()).to.equal('none');
      await db('backups').update({ encryption: JSON.stringify({ fingerprint: '00000000' }) });
      expect(await reason()).to.equal('wrong-passphrase');
    });
  });

  describe('deleted', () => {
    it('keep the newest good one, pinned ones except for the owner, and those in use', async () => {
      const admin = api.as(await api.given.admin());
      const remove = (id: string, by = me) => by.deleteBackup({ params: { id } });
      const first = await makeBackup(api, { pinned: true });
      expect(reasonOf(await remove(first.id))).to.equal('last-good');
      const second = await makeBackup(api);
      expect(reasonOf(await remove(first.id, admin))).to.equal('pinned');
      await api.deps.redis.set('foyer:backup:download', first.id);
      expect(reasonOf(await remove(first.id))).to.equal('in-use');
      await api.deps.redis.del('foyer:backup:download');
      expect((await remove(first.id)).status).to.equal(204);
      expect(await namesAt(second.destination, `backups/${first.id}/`)).to.deep.equal([]);
      expect((await listed()).map(({ id }) => id)).to.deep.equal([second.id]);
      const queued = await enqueueBackup(api);
      expect(reasonOf(await remove(queued))).to.equal('in-use');
    });

    it('keep objects that others name, and an hour later remove those without a reference', async () => {
      await api.deps.objects.put('foyer-artwork', 'shared', 'shared');
      await api.deps.objects.put('foyer-artwork', 'alone', 'alone');
      const first = await makeBackup(api);
      await api.deps.objects.remove('foyer-artwork', ['alone']);
      const second = await makeBackup(api);
      expect((await me.deleteBackup({ params: { id: first.id } })).status).to.equal(204);
      const objects = () => namesAt(second.destination, 'objects/');
      const sweep = async (ms: number) => sweepLoose(api.deps, await findPlace(api.deps.db, BUILTIN), Date.now() + ms);
      expect(await sweep(HOUR_MS - 60_000)).to.equal(0);
      expect(await objects()).to.have.length(2);
      const writing = 'backups/01900000-0000-7000-8000-00000000aaaa/tables/items.0.copy.zst';
      await second.destination.write(writing, Buffer.from('another server writes'));
      expect(await sweep(HOUR_MS + 60_000), 'whose manifest comes last').to.equal(0);
      expect(await sweep(DAY_MS + HOUR_MS)).to.equal(2);
      expect(await objects()).to.have.length(1);
      expect(await namesAt(second.destination, writing)).to.deep.equal([]);
      expect(await sweep(DAY_MS + 2 * HOUR_MS)).to.equal(0);
    });

    it('go by the keeping rules, those of other servers and other places never', async () => {
      await patch({ keep: { last: 1, daily: 0, weekly: 0, monthly: 0 } });
      const first = await makeBackup(api);
      const second = await makeBackup(api);
      expect((await listed()).map(({ id }) => id)).to.deep.equal([second.id]);
      expect(await namesAt(second.destination, `backups/${first.id}/`)).to.deep.equal([]);
      await api.deps.db('backups').update({ server_id: '01900000-0000-7000-8000-00000000cccc' });
      const third = await makeBackup(api);
      expect((await listed()).map(({ id }) => id)).to.deep.equal([third.id, second.id]);
      expect(await applyKeeping(api.deps)).to.deep.equal([]);
    });
  });

  describe('by themselves', () => {
    const at = async (): Promise<number> => (await api.deps.db('backups').count<[{ n: number }]>('* as n'))[0]?.n ?? 0;

    it('are made on schedule, in the zone of the server, and not twice', async () => {
      await api.deps.db('backup_settings').update({ scheduled_at: new Date('2026-11-22T00:00:00Z') });
      await me.updateSettings({ body: { values: { 'server.timeZone': 'America/New_York' } } });
      await api.deps.settings.reload();
      await lookOnce(keeper(), new Date('2026-11-22T08:29:00Z'));
      expect(await at()).to.equal(0);
      await lookOnce(keeper(), new Date('2026-11-22T08:31:00Z'));
      expect(await at()).to.equal(1);
      await api.deps.db('backups').update({ state: 'completed', finished_at: new Date('2026-11-22T08:40:00Z') });
      await lookOnce(keeper(), new Date('2026-11-23T08:29:00Z'));
      expect(await at()).to.equal(1);
      await patch({ enabled: false });
      await lookOnce(keeper(), new Date('2026-11-25T08:31:00Z'));
      expect(await at()).to.equal(1);
    });

    it('are tried again an hour after one failed', async () => {
      const id = await enqueueBackup(api);
      await api.deps.db('backups').where({ id }).update({ state: 'failed', finished_at: new Date() });
      await api.deps.db('backup_settings').update({ scheduled_at: later(2 * DAY_MS) });
      await lookOnce(keeper(), later(HOUR_MS - 60_000));
      expect(await at()).to.equal(1);
      await lookOnce(keeper(), later(HOUR_MS + 60_000));
      expect((await listed({ state: 'queued' })).map(({ trigger }) => trigger)).to.deep.equal(['schedule']);
    });

    it('that fail on two days, or do not complete for three, notify every admin, once until one is good', async () => {
      const { db } = api.deps;
      await db('backup_settings').update({ scheduled_at: later(100 * DAY_MS) });
      const failures = async (): Promise<number> =>
        (await db('notifications').where({ kind: 'backup-failed' }).count<[{ n: number }]>('* as n'))[0]?.n ?? 0;
      const failed = async (days: number): Promise<void> => {
        const id = await enqueueBackup(api);
        await db('backups')
          .where({ id })
          .update({ state: 'failed', finished_at: later(days * DAY_MS) });
      };
      await lookOnce(keeper(), later(2.9 * DAY_MS));
      expect(await failures()).to.equal(0);
      await lookOnce(keeper(), later(3.1 * DAY_MS));
      expect(await failures()).to.equal(1);
      await lookOnce(keeper(), later(3.2 * DAY_MS));
      expect(await failures()).to.equal(1);
      await db('backups').delete();
      await makeBackup(api);
      await failed(0.01);
      await lookOnce(keeper(), later(0.02 * DAY_MS));
      await db('backups').where({ state: 'queued' }).delete();
      expect(await failures()).to.equal(1);
      await failed(1.01);
      await lookOnce(keeper(), later(1.02 * DAY_MS));
      expect(await failures()).to.equal(2);
    });

    it('whose worker is gone for good are failed, not running for ever', async () => {
      const id = await enqueueBackup(api);
      await api.deps.db('jobs').update({ state: 'failed', finished_at: new Date() });
      expect((await me.getBackup({ params: { id } })).body.state).to.equal('failed');
      await lookOnce(keeper());
      expect(await api.deps.db('backups').where({ id }).first('state')).to.deep.equal({ state: 'failed' });
    });
  });

  it('copies a backup to a second place, which can be read alone', async () => {
    await api.deps.db('storages').update({ state: 'available' });
    await api.deps.objects.put('foyer-artwork', 'x', 'x');
    const copyTo = { kind: 'storage', storage: { storageId: api.given.storageId, path: 'second' } };
    expect((await patch({ copyTo })).status).to.equal(200);
    const { id, destination } = await makeBackup(api);
    const { copies } = (await me.getBackup({ params: { id } })).body;
    expect(copies.map(({ name, ok }) => [name, ok])).to.deep.equal([['second', true]]);
    const place = await api.deps.db('backup_settings').first<{ copy_id: string }>();
    expect(await namesAt(await placeOf(api, place.copy_id))).to.deep.equal(await namesAt(destination));
    rmSync(join(folder(), 'backups', id, 'manifest.json'));
    await listed({ refresh: true });
    expect((await me.getBackup({ params: { id } })).body).to.deep.include({
      state: 'completed',
      destination: { kind: 'storage', name: 'second' },
    });
    chmodSync(join(api.mediaRoot, 'second'), 0o755);
    rmSync(join(api.mediaRoot, 'second'), { recursive: true });
    const next = await makeBackup(api);
    const shown = (await me.getBackup({ params: { id: next.id } })).body;
    expect(shown.state).to.equal('completed');
    expect(shown.copies.map(({ ok }) => ok)).to.deep.equal([false]);
  });
});
