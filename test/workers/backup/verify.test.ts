import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { objectName, partName } from '#platform/backup-manifest.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { makeBackup, workOf } from '#support/backups.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { lookOnce } from '#workers/backup/keeper.ts';
import { verifyBackup } from '#workers/backup/verify.ts';

const PASSPHRASE = 'correct horse battery';
const reasonOf = ({ body }: Answered): unknown =>
  (body as unknown as { error: { details: { reason?: string } } }).error.details.reason;

describe('verifying a backup', function () {
  this.timeout(120_000);
  let api: Api;
  let me: TestClient;
  beforeEach(async () => {
    api = await startApi();
    me = api.as(await api.given.owner());
    const library = await givenLibrary(api.deps.db, 'movies');
    await givenItem(api.deps.db, library, { title: 'Film', top: true });
    await api.deps.objects.put('foyer-artwork', 'x', 'a picture');
  });

  const file = (name: string): string => join(new URL(api.config.objectsUrl).pathname, 'foyer-backups', name);
  /** Requests it, runs the requested jobs, and returns the backup. */
  const verified = async (id: string, body: object = {}) => {
    expect((await me.verifyBackup({ params: { id }, body })).status).to.equal(202);
    const job = await api.deps
      .db('jobs')
      .where({ kind: 'backup.verify', state: 'waiting' })
      .first<{ id: string; payload: never }>();
    await api.deps.db('jobs').where({ id: job.id }).update({ state: 'completed' });
    await verifyBackup(job.payload, workOf(api));
    return (await me.getBackup({ params: { id } })).body;
  };
  const seal = (passphrase: string) =>
    me.updateBackupSettings({ body: { encryption: { mode: 'passphrase', passphrase } } });

  it('loads it next to the database and counts every row, and leaves nothing there', async () => {
    const { id, manifest } = await makeBackup(api);
    const { state, verification } = await verified(id);
    expect([state, verification?.ok, verification?.depth]).to.deep.equal(['verified', true, 'load']);
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    expect(verification?.tables).to.deep.equal({ checked: manifest.tables.length, rows });
    expect(verification?.objects).to.deep.equal({ checked: 1, missing: 0, differing: 0 });
    const schemas = await api.deps.db('pg_namespace').whereLike('nspname', 'foyer_restoring%').pluck('nspname');
    expect(schemas).to.deep.equal([]);
    expect((await verified(id, { depth: 'checksums' })).verification?.depth).to.equal('checksums');
  });

  it('finds parts and objects that are damaged or gone, and then the backup is no good one', async () => {
    const { id, manifest } = await makeBackup(api);
    const part = manifest.tables.flatMap((table) => table.parts)[0];
    const [object] = manifest.objects;
    if (!part || !object) throw new Error('nothing to damage');
    writeFileSync(file(objectName(object, null)), 'b picture');
    const differing = await verified(id, { depth: 'checksums' });
    expect(differing).to.deep.include({ state: 'damaged', restorable: false, notRestorableReason: 'damaged' });
    expect(differing.verification?.objects).to.deep.equal({ checked: 1, missing: 0, differing: 1 });
    rmSync(file(objectName(object, null)));
    rmSync(file(partName(id, part)));
    const missing = await verified(id);
    expect(missing.verification?.objects).to.deep.equal({ checked: 1, missing: 1, differing: 0 });
    expect(missing.verification?.problems).to.deep.include({ code: 'incomplete', name: part.name });
    expect(missing).to.deep.include({ state: 'damaged', notRestorableReason: 'incomplete' });
    expect((await me.listBackups({ query: { state: 'completed,verified' } })).body.items).to.deep.equal([]);
  });

  it('requires its own passphrase, at most five tries a minute', async () => {
    await seal(PASSPHRASE);
    const { id } = await makeBackup(api);
    expect((await verified(id)).state).to.equal('verified');
    await seal('another passphrase');
    expect(reasonOf(await me.verifyBackup({ params: { id } }))).to.equal('wrong-passphrase');
    const { state, verification } = await verified(id, { passphrase: PASSPHRASE });
    expect([state, verification?.ok]).to.deep.equal(['verified', true]);
    expect(JSON.stringify(await api.deps.db('jobs').select('payload'))).to.not.contain(PASSPHRASE);
    const statuses = [];
    for (let n = 0; n < 6; n += 1)
      statuses.push((await me.verifyBackup({ params: { id }, body: { passphrase: `wrong ${n}` } })).status);
    expect(statuses.at(-1)).to.equal(429);
    expect(statuses.slice(0, 3)).to.deep.equal([409, 409, 409]);
  });

  it('is requested by its own schedule, for the newest good one', async () => {
    await makeBackup(api);
    const { id } = await makeBackup(api);
    const { db } = api.deps;
    await db('backup_settings').update({
      verified_at: new Date('2026-11-21T00:00:00Z'),
      scheduled_at: new Date('2099-01-01'),
    });
    const jobs = () => db('jobs').where({ kind: 'backup.verify' }).select<{ payload: object }[]>('payload');
    const keeper = { ...workOf(api), keys: api.deps.keys };
    await lookOnce(keeper, new Date('2026-11-22T04:59:00Z'));
    expect(await jobs()).to.deep.equal([]);
    await lookOnce(keeper, new Date('2026-11-22T05:01:00Z'));
    await lookOnce(keeper, new Date('2026-11-22T05:02:00Z'));
    expect(await jobs()).to.deep.equal([{ payload: { backupId: id, depth: 'load' } }]);
  });
});
