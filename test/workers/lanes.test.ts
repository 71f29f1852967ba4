// The effect of `jobs.paused` and `jobs.concurrency` on workers that run already.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { insertAccount } from '#areas/accounts/public.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { Workers } from '#support/workers.ts';

const STORAGE = '01900000-0000-7000-8000-000000000001';
const LONG_MS = 30_000;
/** Two looks of an idle worker at the queue. */
const LOOKS_MS = 4500;

describe('lanes of a worker', function () {
  this.timeout(120_000);
  let workers: Workers;
  before(async () => {
    workers = await Workers.make();
    await workers.start();
  });
  afterEach(async () => {
    await workers.settle({ 'jobs.paused': [], 'jobs.concurrency.maintenance': null });
    await workers.db('jobs').where({ state: 'active' }).update({ cancel_requested: true });
    await eventually(async () => (await active()) === 0, LONG_MS);
  });
  after(() => workers.end());

  const active = async (): Promise<number> => {
    const rows = await workers.db('jobs').where({ state: 'active' }).select('id');
    return rows.length;
  };
  const reachActive = (n: number): Promise<boolean> => eventually(async () => (await active()) === n, LONG_MS);

  it('begin no job of a paused queue, and continue when it is no longer paused, without a restart', async () => {
    await workers.reaches(await workers.enqueueAct(''), 'completed');
    await workers.settle({ 'jobs.paused': ['maintenance'] });
    await sleep(1000); // it is notified within a moment, unless the machine is busy
    const ids = await Promise.all([1, 2, 3].map(() => workers.enqueueAct('')));
    await sleep(LOOKS_MS);
    for (const id of ids) expect(await workers.job(id)).to.include({ state: 'waiting', attempts: 0 });
    await workers.settle({ 'jobs.paused': [] });
    for (const id of ids) expect(await workers.reaches(id, 'completed')).to.include({ attempts: 1, losses: 0 });
  });

  it('end a job of a queue that is paused at its next checkpoint, and take it up there again', async () => {
    const id = await workers.enqueueAct('steps', { maxAttempts: 1 });
    const checkpoint = async (): Promise<number> => {
      const row = await workers.db('jobs').where({ id }).first<{ checkpoint: { at: number } | null }>('checkpoint');
      return row.checkpoint?.at ?? 0;
    };
    await eventually(async () => (await checkpoint()) > 2, LONG_MS);
    await workers.settle({ 'jobs.paused': ['maintenance'] });
    expect(await workers.reaches(id, 'waiting')).to.include({ attempts: 0, losses: 0 });
    const at = await checkpoint();
    await workers.settle({ 'jobs.paused': [] });
    await eventually(async () => (await checkpoint()) > at, LONG_MS);
    expect(await workers.job(id)).to.include({ state: 'active', attempts: 1 });
    expect(workers.noted(id)).to.equal(2);
  });

  it('begin no analysis while a session streams, and continue when it pauses', async () => {
    const { db } = workers;
    await db('storages').insert({ id: STORAGE, name: 'films', kind: 'mount', root_name: 'films', read_only: true });
    const library = await givenLibrary(db, 'movies');
    const item_id = await givenItem(db, library);
    const account = await insertAccount(db, { username: 'viewer', role: 'member', passwordHash: null });
    const profile = await db('profiles').where({ account_id: account.id }).first<{ id: string }>('id');
    const session = newId();
    await db('playback_sessions').insert({
      ...{ id: session, account_id: account.id, profile_id: profile.id, item_id, library_id: library.id },
      ...{ file_id: newId(), state: 'playing', method: 'direct_play', decision: '{}', url: '/' },
    });
    await sleep(LOOKS_MS); // each worker looks once a second
    const id = await db.transaction((transaction) =>
      enqueue(transaction, 'items.similar', { payload: { itemId: item_id } }),
    );
    await workers.reaches(await workers.enqueueAct(''), 'completed');
    await sleep(LOOKS_MS);
    expect(await workers.job(id)).to.include({ state: 'waiting', attempts: 0 });
    await db('playback_sessions').where({ id: session }).update({ state: 'paused' });
    await workers.reaches(id, 'completed');
  });

  it('run as many of a queue at once as its concurrency permits, fewer and more than before', async () => {
    await workers.settle({ 'jobs.concurrency.maintenance': 1 });
    await sleep(1000);
    const ids = await Promise.all(Array.from({ length: 6 }, () => workers.enqueueAct('wait')));
    await reachActive(1);
    await sleep(LOOKS_MS);
    expect(await active()).to.equal(1);
    await workers.settle({ 'jobs.concurrency.maintenance': 5 }); // the lane has two places of its own
    await reachActive(5);
    await sleep(LOOKS_MS);
    expect(await active()).to.equal(5);
    await workers.settle({ 'jobs.concurrency.maintenance': 0 });
    await sleep(1000);
    const [first = ''] = ids;
    await workers.db('jobs').where({ state: 'active' }).update({ cancel_requested: true });
    await reachActive(0);
    await sleep(LOOKS_MS);
    expect(await active()).to.equal(0);
    expect(await workers.job(first)).to.include({ losses: 0 });
    await workers.settle({ 'jobs.concurrency.maintenance': null });
    await reachActive(1);
  });
});
