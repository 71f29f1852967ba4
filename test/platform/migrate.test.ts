import { expect } from 'chai';
import pg from 'pg';
import { createLog } from '#platform/log.ts';
import { migrate, migrationsPending } from '#platform/migrate.ts';
import { migrations } from '#platform/migrations/index.ts';
import { connectLoosely } from '#support/loose.ts';
import { atEnd, newDatabase } from '#support/stores.ts';

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

  it('says what has not run yet', async () => {
    const db = connect(await newDatabase());
    const last = Object.keys(migrations).sort().at(-1) ?? '';
    await db('knex_migrations').where({ name: last }).delete();
    expect(await migrationsPending(db)).to.deep.equal([last]);
  });
});
