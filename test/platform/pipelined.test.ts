import { expect } from 'chai';
import {
  connectDatabase,
  type Db,
  databaseUnavailable,
  disconnectDatabase,
  gathered,
  named,
  pipelineReads,
} from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { atEnd, newDatabase } from '#support/stores.ts';

describe('short reads that share connections', () => {
  let db: Db;
  before(async () => {
    const url = await newDatabase();
    db = connectDatabase(url, createLog('silent', 'test'), { name: 'sharing' });
    pipelineReads(db);
    atEnd(() => disconnectDatabase(db));
    await db.raw('create table kept (id int primary key, name text not null)');
    await db.raw(`insert into kept select n, 'name ' || n from generate_series(1, 500) as n`);
  });
  const nameOf = async (id: number): Promise<unknown> => {
    const statement = { name: 'name-of', text: 'select name from kept where id = $1', values: [id], short: true };
    return (await named<{ name: string }>(db, statement))[0]?.name;
  };
  const broken = (name: string): Promise<unknown> =>
    named(db, { name, text: 'select 1 / (id - 7) from kept where id = $1', values: [7], short: true }).catch(
      (error: { code: string }) => error.code,
    );
  const connections = async (): Promise<number> => {
    const { rows } = await db.raw<{ rows: { n: number }[] }>(
      `select count(*)::int as n from pg_stat_activity where application_name = 'sharing' and datname = current_database()`,
    );
    return rows[0]?.n ?? 0;
  };

  it('each get their own answer, a faulty one alone gets its fault, and few connections serve them all', async () => {
    const queries = Array.from({ length: 400 }, (_, i) => (i % 10 === 3 ? broken('broken') : nameOf(i + 1)));
    const expected = queries.map((_, i) => (i % 10 === 3 ? '22012' : `name ${i + 1}`));
    expect(await Promise.all(queries)).to.deep.equal(expected);
    expect(await connections()).to.be.at.most(4);
  });

  it('are stopped after five seconds, and those behind are still answered', async () => {
    const slow = named(db, { name: 'slow', text: 'select pg_sleep($1)', values: [30], short: true }).catch(
      (error: { code: string }) => error.code,
    );
    const behind = Array.from({ length: 9 }, (_, i) => nameOf(i + 1));
    expect(await slow).to.equal('57014');
    expect(await Promise.all(behind)).to.deep.equal(Array.from({ length: 9 }, (_, i) => `name ${i + 1}`));
  });

  it('see writes of their own transaction, which no shared connection does', async () => {
    const read = { name: 'count', text: 'select count(*)::int as n from kept', values: [], short: true };
    await db.transaction(async (inside) => {
      await inside.raw(`insert into kept values (1000, 'inside')`);
      expect(await named(inside as unknown as Db, read)).to.deep.equal([{ n: 501 }]);
      expect(await named(db, read)).to.deep.equal([{ n: 500 }]);
      await inside.raw('delete from kept where id = 1000');
    });
  });

  it('report a lost connection as an unavailable database, and continue with a new one', async () => {
    await nameOf(1);
    const held = Array.from({ length: 6 }, (_, i) =>
      named(db, { name: 'held', text: 'select pg_sleep($1)', values: [4], short: true }).then(
        () => `answered ${i}`,
        (error: unknown) => databaseUnavailable(error),
      ),
    );
    await new Promise((done) => setTimeout(done, 300));
    await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'sharing' and datname = current_database() and pid <> pg_backend_pid()`);
    expect(await Promise.all(held)).to.deep.equal(Array(6).fill(true));
    expect(await nameOf(2)).to.equal('name 2');
  });

  it('sent in one turn are one statement', async () => {
    const many = gathered<{ name: string }>({
      name: 'many',
      text: `select id::text as key, json_build_object('name', name, 'in', $1::text[]) as row from kept where id = any($1::text[]::int[])`,
    });
    const [one, two, none] = await Promise.all(['1', '2', '9999'].map((id) => many(db, id)));
    expect(one).to.deep.equal({ name: 'name 1', in: ['1', '2', '9999'] });
    expect([two?.name, none]).to.deep.equal(['name 2', undefined]);
  });
});
