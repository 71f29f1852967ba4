import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Migration, type MigrationTools } from '#operator/local/migration.ts';
import { readManifest } from '#platform/backup/part.ts';
import { migrationsLeft } from '#platform/migrate.ts';
import { type Api, startApi } from '#support/api.ts';
import { placeOf } from '#support/backups.ts';
import { bareEnvironment, storesOf } from '#support/processes.ts';

const ADDS_VERSION = '20261122180000_server_version';

interface Row {
  id: string;
  state: string;
  server_version: string;
  schema_version: string;
  error: { reason: string } | null;
}

describe('the backup before an upgrade, on one machine', function () {
  this.timeout(120_000);
  let api: Api;
  let ran: string[];
  beforeEach(async () => {
    api = await startApi();
    await api.given.owner();
    ran = [];
  });

  /** As an earlier build left it. */
  async function older(): Promise<void> {
    await api.deps.db.raw('alter table server_state drop column version');
    await api.deps.db('knex_migrations').where({ name: ADDS_VERSION }).delete();
  }

  const tools = (more: Partial<MigrationTools> = {}): MigrationTools => ({
    server: 'MediaServer home in home.yaml',
    run: async ({ command, args, env, cwd }) => {
      ran.push(args.slice(1).join(' '));
      const child = spawn(command, args, { cwd, env: { ...bareEnvironment(), ...env }, stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? undefined;
    },
    ...more,
  });
  const env = (): Record<string, string> => ({ ...storesOf(api.config), FOYER_LOG_LEVEL: 'silent' });
  const backups = (): Promise<Row[]> => api.deps.db('backups').where({ trigger: 'before-upgrade' }).select<Row[]>('*');
  const left = () => migrationsLeft(api.deps.db);
  /** A bucket whose secret no key opens. */
  async function breakDestination(): Promise<void> {
    const id = '01900000-0000-7000-8000-0000000000cc';
    const place = JSON.stringify({ endpoint: 'https://s3.example', region: 'x', bucket: 'b', accessKeyId: 'k' });
    await api.deps.db('backup_places').insert({ id, kind: 's3', place });
    await api.deps.db('backup_settings').update({ place_id: id });
  }

  it('is made of the schema of before, and then the database is migrated', async () => {
    await older();
    const messages: string[] = [];
    const migration = new Migration();
    expect(await migration.ensure(env(), tools({ say: (line) => messages.push(line) }))).to.equal(true);
    expect(ran).to.deep.equal([
      ...['api/migrate.ts guarded', 'workers/backup/before-upgrade.ts alone', 'api/migrate.ts'],
    ]);
    expect(messages).to.have.length(1);
    expect(await left()).to.deep.equal([]);
    const [row, ...more] = await backups();
    expect(more).to.deep.equal([]);
    expect(row?.state).to.equal('completed');
    const manifest = await readManifest(await placeOf(api), row?.id ?? '');
    expect(manifest.tables.find(({ name }) => name === 'server_state')?.columns).not.to.include('version');
    expect(manifest.tables.find(({ name }) => name === 'accounts')?.rows).to.be.greaterThan(0);

    ran = [];
    expect(await migration.ensure({ ...env(), FOYER_SERVER_NAME: 'Other' }, tools())).to.equal(true);
    expect(ran, 'nothing is to be migrated').to.deep.equal(['api/migrate.ts guarded']);
    expect(await backups()).to.have.length(1);
  });

  it('names the version that ran before, as the target of a rollback', async () => {
    await api.deps.db('server_state').update({ version: '0.0.9' });
    await api.deps.db('knex_migrations').where({ name: '20261122160000_items_age_years' }).delete();
    expect(await new Migration().ensure(env(), tools())).to.equal(true);
    const [row] = await backups();
    expect(row?.server_version).to.equal('0.0.9');
    expect((await readManifest(await placeOf(api), row?.id ?? '')).serverVersion).to.equal('0.0.9');
  });

  it('is not created where the settings disable it, nor for a new database', async () => {
    await older();
    await api.deps.db('backup_settings').update({ before_upgrade: false });
    expect(await new Migration().ensure(env(), tools())).to.equal(true);
    expect(ran).to.deep.equal(['api/migrate.ts guarded']);
    expect(await backups()).to.deep.equal([]);
  });

  it('that fails leaves the database as it was, prints how to continue, and gives way to the annotation', async () => {
    await older();
    await breakDestination();
    const migration = new Migration();
    expect(await migration.ensure(env(), tools())).to.equal(false);
    expect(migration.state.state).to.equal('not-backed-up');
    expect(migration.state.message).to.contain('annotation foyer.media/upgrade-without-backup: ');
    expect(migration.state.message).to.contain('of MediaServer home in home.yaml').and.contain('the previous version');
    expect(await left()).to.deep.equal([ADDS_VERSION]);
    const [row] = await backups();
    expect(row?.state).to.equal('failed');

    ran = [];
    expect(await migration.ensure(env(), tools()), 'not at once again').to.equal(false);
    expect(ran).to.deep.equal([]);
    expect(await migration.ensure(env(), tools({ withoutBackup: true }))).to.equal(true);
    expect(await left()).to.deep.equal([]);
  });

  it('continues where it was killed, after any other that was under way', async () => {
    await older();
    await api.deps.db('backups').insert({
      id: '01900000-0000-7000-8000-0000000000bb',
      state: 'running',
      trigger: 'schedule',
      place_id: '00000000-0000-7000-8000-000000000001',
      server_id: api.deps.keys.serverId,
      server_name: 'x',
      server_version: '0.1.0',
      schema_version: 'x',
      objects_mode: 'kept',
    });
    expect(await new Migration().ensure(env(), tools())).to.equal(true);
    const states = await api.deps.db('backups').orderBy('started_at').pluck('state');
    expect(states).to.deep.equal(['completed', 'completed']);
  });
});
