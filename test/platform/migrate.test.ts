import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Knex } from 'knex';
import pg from 'pg';
import { createLog } from '#platform/log.ts';
import { migrate, migrationsPending } from '#platform/migrate.ts';
import { migrations } from '#platform/migrations/index.ts';
import { connectLoosely } from '#support/loose.ts';
import { atEnd, eventually, newDatabase } from '#support/stores.ts';

describe('migrate', () => {
  /** A database with nothing in it. */
  const emptyDatabase = async (): Promise<string> => {
    const url = new URL(await newDatabase());
    const name = url.pathname.slice(1);
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(`create database ${name}_empty`);
    await client.end();
    url.pathname = `/${name}_empty`;
    return url.href;
  };
  const connect = (url: string) => {
    const db = connectLoosely(url, createLog('silent', 'test'), { max: 2 });
    atEnd(() => db.destroy());
    return db;
  };

  it('runs each migration once, in order, when three start at once', async () => {
    const url = await emptyDatabase();
    const db = connect(url);
    expect(await migrationsPending(db)).to.have.length(Object.keys(migrations).length);
    const ran = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    const all = Object.keys(migrations).sort();
    expect(ran.map((names) => names.length).sort((a, b) => a - b)).to.deep.equal([0, 0, all.length]);
    expect(await db('knex_migrations').orderBy('id').pluck('name')).to.deep.equal(all);
    expect(await migrationsPending(db)).to.deep.equal([]);
    expect(await migrate(url)).to.deep.equal([]);
  });

  it('takes a schema that a newer build has been at as current', async () => {
    const url = await newDatabase();
    const db = connect(url);
    await db('knex_migrations').insert({ name: '29991231235959_future_thing', batch: 99, migration_time: new Date() });
    expect(await migrate(url)).to.deep.equal([]);
    expect(await migrationsPending(db)).to.deep.equal([]);
  });

  it('builds indexes of tables in use while others write, and builds interrupted ones again', async () => {
    const url = await newDatabase();
    const db = connect(url);
    const [name, index] = ['20261123081000_items_below', 'items_in_grandparent'];
    const valid = async (): Promise<boolean[]> => {
      const { rows } = await db.raw<{ rows: { indisvalid: boolean }[] }>(
        'select indisvalid from pg_index where indexrelid = to_regclass(?)',
        [index],
      );
      return rows.map(({ indisvalid }) => indisvalid);
    };
    await db('knex_migrations').where({ name }).delete();
    await db.raw('update pg_index set indisvalid = false where indexrelid = to_regclass(?)', [index]);
    await db.raw('drop index items_in_parent');
    const writer = await db.transaction();
    await writer.raw('lock table items in row exclusive mode'); // as an insert that is not committed
    const ran = migrate(url);
    const others = async (): Promise<boolean> => {
      const { rows } = await db.raw<{ rows: object[] }>(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query ~ '^create index'`,
      );
      return rows.length > 0;
    };
    await eventually(others);
    await db.raw('set lock_timeout = 2000');
    await db('items').where({ title: 'nothing' }).update({ title: 'else' }); // no statement waits behind the index
    await writer.commit();
    expect(await ran).to.deep.equal([name]);
    expect(await valid()).to.deep.equal([true]);
    expect(await migrate(url)).to.deep.equal([]);
  });

  it('lets requests pass while a migration waits for a lock, and runs once the lock is free', async () => {
    const url = await newDatabase();
    const db = connect(url);
    const name = Object.keys(migrations).sort().at(-1) ?? '';
    const last = migrations[name];
    if (!last) throw new Error('there are no migrations');
    await db('knex_migrations').where({ name }).delete();
    const up = async (inside: Knex): Promise<void> => {
      await inside.raw('alter table items add column if not exists waited text');
    };
    migrations[name] = { up };
    atEnd(() => {
      migrations[name] = last;
    });
    const reader = await db.transaction();
    await reader.raw('select from items'); // as a backup, which reads for minutes
    const ran = migrate(url);
    const waiting = async (): Promise<boolean> =>
      (
        await db.raw<{ rows: object[] }>(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'waited'`,
        )
      ).rows.length > 0;
    await eventually(waiting);
    await db('items').select('id').limit(1); // waits behind the migration for as long as that waits
    expect(await waiting()).to.equal(false);
    await reader.commit();
    expect(await ran).to.deep.equal([name]);
  });

  it('takes no lock for an index from a table that is in use, in any migration from now on', () => {
    const folder = new URL('../../api/platform/migrations/', import.meta.url);
    const later = Object.keys(migrations).filter((name) => name >= '20261123081000');
    const blocking = later.flatMap((name) => {
      const text = readFileSync(new URL(`${name}.ts`, folder), 'utf8');
      const made = new Set([...text.matchAll(/create table (?:if not exists )?(\w+)/gi)].map(([, table]) => table));
      const indexed = [...text.matchAll(/create (?:unique )?index\s+\w+\s+on\s+(\w+)/gi)].map(([, table]) => table);
      return indexed.filter((table) => !made.has(table)).map((table) => `${name}: use buildIndex for ${table}`);
    });
    expect(blocking).to.deep.equal([]);
  });

  it('lists the migrations that have not run yet', async () => {
    const db = connect(await newDatabase());
    const last = Object.keys(migrations).sort().at(-1) ?? '';
    await db('knex_migrations').where({ name: last }).delete();
    expect(await migrationsPending(db)).to.deep.equal([last]);
  });
});
