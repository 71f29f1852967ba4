import { expect } from 'chai';
import { connectDatabase, type Db } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { enqueue } from '#platform/queue.ts';
import { atEnd, newDatabase } from '#support/stores.ts';

describe('queue', () => {
  let db: Db;
  before(async () => {
    db = connectDatabase(await newDatabase(), createLog('silent', 'test'), { max: 12 });
    atEnd(() => db.destroy());
  });
  const enqueueOn = (on: Db, options: object = {}): Promise<string> =>
    enqueue(on, 'library.purge', { payload: { reason: 'test' }, options });
  const tasks = async (id: string): Promise<{ task_identifier: string; priority: number; run_at: Date }[]> =>
    (await db.raw<{ rows: never[] }>('select * from graphile_worker.jobs where key = ?', [id])).rows;

  it('writes the row and its task together, or neither', async () => {
    const runAt = new Date(Date.now() + 60_000);
    const id = await db.transaction((transaction) => enqueueOn(transaction, { priority: 7, runAt, cause: 'person' }));
    const row = await db('jobs').where({ id }).first<Record<string, unknown>>();
    expect(row).to.include({
      kind: 'library.purge',
      queue: 'maintenance',
      state: 'delayed',
      priority: 7,
      cause: 'person',
    });
    const [task, ...more] = await tasks(id);
    expect(more).to.deep.equal([]);
    expect(task).to.include({ task_identifier: 'foyer.maintenance', priority: 7 });
    expect(task?.run_at).to.deep.equal(runAt);
    let lost = '';
    await db
      .transaction(async (transaction) => {
        lost = await enqueueOn(transaction);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await db('jobs').where({ id: lost })).to.deep.equal([]);
    expect(await tasks(lost)).to.deep.equal([]);
  });

  it('creates one job for equal concurrent requests, and returns its id to all of them', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => db.transaction((transaction) => enqueueOn(transaction, { key: 'equal' }))),
    );
    expect(new Set(ids).size).to.equal(1);
    expect(await db('jobs').where({ key: 'equal' })).to.have.length(1);
    expect(await enqueueOn(db, { key: 'other' })).to.not.equal(ids[0]);
    const [first, second] = [await enqueueOn(db), await enqueueOn(db)];
    expect(first, 'without a key').to.not.equal(second);
  });

  it('makes another once the first has begun, also when it begins in this moment', async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = `begins-${round}`;
      const first = await enqueueOn(db, { key });
      const begin = db('jobs').where({ id: first }).update({ state: 'active' });
      const [, second] = await Promise.all([begin, enqueueOn(db, { key })]);
      expect([first, await enqueueOn(db, { key })]).to.include(second === first ? first : second);
      const third = await enqueueOn(db, { key });
      expect(third).to.not.equal(first);
    }
  });

  it('takes no payload that its kind does not describe', async () => {
    const wrong = enqueue(db, 'library.scan', { payload: { libraryId: 'x', scanId: 'y' } }).catch((e: unknown) => e);
    expect(await wrong).to.be.instanceOf(Error);
  });
});
