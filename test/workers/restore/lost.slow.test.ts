import { expect } from 'chai';
import pg from 'pg';
import { type Api, startApi } from '#support/api.ts';
import { sha256 } from '#support/backup-writer.ts';
import { makeBackup } from '#support/backups.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import type { LooseDb } from '#support/loose.ts';
import { startApiProcess, started, storesOf } from '#support/processes.ts';
import { record, requestRestore, restoreProcess, tableTexts, unfenced } from '#support/restoring.ts';
import { eventually, freePort, temporaryFolder } from '#support/stores.ts';

const PATIENCE_MS = 60_000;
const PHASES = ['fetching', 'loading', 'migrating', 'checking', 'objects', 'switching'];
/** Where the process is held up: at the beginning of each phase, and with everything exchanged but not committed. */
const BEFORE = [
  ...PHASES.map((phase) => `new.phase = '${phase}' and old.phase is distinct from new.phase`),
  'new.switched_at is not null',
];
/** The attempt itself, and concurrent changes. */
const RECORDS = new Set(['jobs', 'job_counts', 'outbox', 'events']);

describe('a restore whose process is lost', () => {
  let api: Api;
  let db: LooseDb;
  let backup: Awaited<ReturnType<typeof makeBackup>>;

  beforeEach(async function () {
    this.timeout(120_000);
    api = await startApi();
    db = unfenced(api.config.databaseUrl, api.deps.log);
    await api.given.owner();
    const library = await givenLibrary(api.deps.db, 'movies');
    for (let i = 0; i < 30; i += 1) await givenItem(api.deps.db, library);
    const picture = Buffer.from('a picture');
    await api.deps.objects.put('foyer-artwork', sha256(picture), picture);
    backup = await makeBackup(api);
    await api.deps.db('items').delete();
    await api.deps.objects.remove('foyer-artwork', [sha256(picture)]);
  });

  /** Postgres holds the process up where it writes that into its record, for as long as the trigger is there. */
  const holdAt = async (what: string): Promise<void> => {
    await db.raw(`create or replace function foyer_restore.hold() returns trigger language plpgsql as $$ begin
        perform pg_sleep(3600); return new; end $$`);
    await db.raw(`create trigger hold before update on foyer_restore.restores for each row
        when (${what}) execute function foyer_restore.hold()`);
  };
  const letGo = async (): Promise<void> => {
    await db.raw('drop trigger if exists hold on foyer_restore.restores');
  };
  const isHeld = async (): Promise<boolean> => {
    const look = db.raw<{ rows: { held: boolean }[] }>(
      `select exists (select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()) as held`,
    );
    const { rows } = await look.catch(() => ({ rows: [] })); // the switch ends every connection, also the one that polls
    return rows[0]?.held ?? false;
  };
  const standing = async (): Promise<string> => {
    const texts = await tableTexts(db);
    for (const name of RECORDS) texts.delete(name);
    return JSON.stringify([...texts]);
  };
  const count = async (): Promise<number> => Number((await db('items').count({ n: '*' }))[0]?.n);
  /** Kills it there, as a node that dies does. */
  const killedAt = async (what: string): Promise<void> => {
    await holdAt(what);
    const process = restoreProcess(api);
    await eventually(isHeld, PATIENCE_MS);
    process.kill();
    expect(await process.ended).to.equal('SIGKILL');
    await eventually(async () => !(await isHeld()), PATIENCE_MS); // Postgres notices by itself
    await letGo();
  };

  it('leaves the server as it was when killed before the switch, in each phase, and continues when it is started again', async function () {
    this.timeout(600_000);
    const before = await standing();
    await requestRestore(api, db, { backupId: backup.id, manifest: backup.manifest });
    await db('foyer_restore.restores').update({ attempts: -20 });
    // The first is where the record begins: it is held where the attempt is counted.
    await db('foyer_restore.restores').update({ phase: 'reopening' });
    for (const what of BEFORE) {
      await killedAt(what);
      expect(await standing(), what).to.equal(before);
      expect((await record(db)).switched_at).to.equal(null);
    }
    expect(await restoreProcess(api).ended).to.equal(0);
    expect(await record(db)).to.deep.include({ state: 'completed', error: null });
    expect(await count()).to.equal(30);
  });

  it('is the new server when killed behind the switch: closed until another process opens it', async function () {
    this.timeout(240_000);
    const { url } = await startApiProcess(api);
    await requestRestore(api, db, { backupId: backup.id, manifest: backup.manifest });
    await holdAt(`new.state = 'completed'`);
    const process = restoreProcess(api);
    await eventually(isHeld, PATIENCE_MS);
    process.kill();
    await process.ended;
    await letGo();
    expect(await count()).to.equal(30);
    const dead = await fetch(`${url}/api/v1/server/ready`).catch(() => undefined);
    expect(dead === undefined || dead.status === 503).to.equal(true); // it ended, or is about to
    expect(await restoreProcess(api).ended).to.equal(0);
    expect(await record(db)).to.deep.include({ state: 'completed', error: null });
    const restarted = await startApiProcess(api);
    expect((await fetch(`${restarted.url}/api/v1/server/ready`)).status).to.equal(200);
  });

  it('answers 503 restore with progress while it is closed, from a process that began meanwhile', async function () {
    this.timeout(240_000);
    await requestRestore(api, db, { backupId: backup.id, manifest: backup.manifest });
    await db('foyer_restore.epoch').update({ closed: true, number: 5, progress: 0.5 });
    const port = await freePort();
    const own = { FOYER_PORT: String(port), FOYER_SCRATCH_DIR: temporaryFolder('closed'), FOYER_LOG_LEVEL: 'info' };
    await started(['api/main.ts'], { ...storesOf(api.config), ...own }, 'listening');
    const url = `http://127.0.0.1:${port}/api/v1`;
    const refusal = await eventually(async () => {
      const answer = await fetch(`${url}/libraries`);
      const { error } = (await answer.json()) as { error: { code: string; details: { waitingFor?: string } } };
      return error.details.waitingFor === 'restore' && { status: answer.status, ...error };
    }, PATIENCE_MS);
    expect(refusal).to.deep.include({ status: 503, code: 'SERVICE_STARTING' });
    expect(refusal.details).to.deep.equal({ waitingFor: 'restore', progress: 0.5 });
    expect((await fetch(`${url}/server/ready`)).status).to.equal(503);
    expect((await fetch(`${url}/server/live`)).status).to.equal(200); // no process ends it for waiting
    expect((await fetch(`${url}/server/info`)).status).to.equal(200);
    expect(await restoreProcess(api).ended).to.equal(0);
    const restarted = await startApiProcess(api); // the former one ends, and its supervisor starts it
    expect((await fetch(`${restarted.url}/api/v1/server/ready`)).status).to.equal(200);
    expect(await count()).to.equal(30);
  });

  it('continues when Postgres itself was lost in the middle', async function () {
    this.timeout(240_000);
    const before = await standing();
    await requestRestore(api, db, { backupId: backup.id, manifest: backup.manifest });
    await holdAt(`new.phase = 'checking'`);
    const process = restoreProcess(api);
    await eventually(isHeld, PATIENCE_MS);
    const admin = new pg.Client({ connectionString: api.config.databaseUrl, application_name: 'admin' });
    await admin.connect();
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await admin.end();
    expect(await process.ended).to.equal(1);
    await letGo();
    expect(await standing()).to.equal(before);
    expect(await restoreProcess(api).ended).to.equal(0);
    expect(await count()).to.equal(30);
  });
});
