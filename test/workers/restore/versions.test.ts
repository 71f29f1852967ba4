import { expect } from 'chai';
import pg from 'pg';
import { manifestText } from '#platform/backup-manifest.ts';
import { newId } from '#platform/ids.ts';
import { migrateInSchema } from '#platform/migrate.ts';
import { migrations } from '#platform/migrations/index.ts';
import { type Api, startApi } from '#support/api.ts';
import { type Written, writeBackup } from '#support/backup-writer.ts';
import {
  addRow,
  builtinFolder,
  record,
  requestRestore,
  restoreProcess,
  tableTexts,
  unfenced,
} from '#support/restoring.ts';
import { newDatabase } from '#support/stores.ts';

/** Of a version before notifications were counted, pictures had a table and backups were there. */
const OLD = '20261121190500_settings_history';

describe('restoring a backup of another version', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
    await api.given.owner();
  });

  /** A database as that version left it, with a server and its owner. */
  const oldDatabase = async (): Promise<string> => {
    const url = new URL(await newDatabase());
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query('drop schema public cascade; create schema public; drop schema foyer_restore cascade');
    await migrateInSchema(url.href, 'public', new Set(Object.keys(migrations).filter((name) => name <= OLD)));
    await client.query(`insert into server_state (server_id) values ($1)`, [api.deps.keys.serverId]);
    const id = newId();
    await client.query(
      `insert into accounts (id, username, username_folded, display_name, role) values ($1, 'old', 'old', 'Old', 'owner')`,
      [id],
    );
    await client.query(`insert into profiles (id, account_id, name, main) values ($1, $2, 'Old', true)`, [newId(), id]);
    await client.end();
    return url.href;
  };

  const restored = async (written: Written): Promise<Record<string, unknown>> => {
    const db = unfenced(api.config.databaseUrl, api.deps.log);
    await addRow(db, written.manifest);
    await requestRestore(api, db, { backupId: written.manifest.id, manifest: written.manifest });
    expect(await restoreProcess(api).ended).to.equal(0);
    return record(db);
  };

  it('brings one of an older version to this one', async function () {
    this.timeout(120_000);
    const db = unfenced(api.config.databaseUrl, api.deps.log);
    const written = await writeBackup({
      folder: builtinFolder(api),
      databaseUrl: await oldDatabase(),
      serverId: api.deps.keys.serverId,
    });
    expect(written.manifest.schemaVersion).to.equal(OLD);
    expect(await restored(written)).to.deep.include({ state: 'completed', error: null });
    expect(await db('knex_migrations').orderBy('name').pluck('name')).to.deep.equal(Object.keys(migrations).sort());
    expect(await db('accounts').where({ role: 'owner' }).pluck('username')).to.deep.equal(['old']);
    expect(await db('notification_counts')).to.deep.equal([]); // a table that it did not have
  });

  it('refuses one of a newer version, and changes nothing', async function () {
    this.timeout(60_000);
    const db = unfenced(api.config.databaseUrl, api.deps.log);
    const before = (await tableTexts(db)).get('accounts');
    const newer = await writeBackup({
      folder: builtinFolder(api),
      databaseUrl: api.config.databaseUrl,
      serverId: api.deps.keys.serverId,
    });
    Object.assign(newer.manifest, { schemaVersion: '29990101000000_items_dreams' });
    await newer.destination.write(`backups/${newer.manifest.id}/manifest.json`, manifestText(newer.manifest));
    expect(await restored(newer)).to.deep.include({ state: 'failed' });
    expect((await record(db)).error).to.deep.include({ reason: 'newer-version' });
    expect((await tableTexts(db)).get('accounts')).to.equal(before);
  });
});
