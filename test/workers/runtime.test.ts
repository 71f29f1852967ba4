import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { insertAccount } from '#areas/accounts/public.ts';
import { cancel } from '#areas/jobs/jobs.store.ts';
import { eventually } from '#support/stores.ts';
import { Workers } from '#support/workers.ts';

describe('worker runtime', function () {
  this.timeout(180_000);
  let workers: Workers;
  before(async () => {
    workers = await Workers.make();
    await workers.start();
  });
  after(() => workers.end());

  it('tries again later after a failure, and gives up after the last attempt', async () => {
    const id = await workers.enqueueAct('fail', { maxAttempts: 2 });
    const waits = await workers.reaches(id, 'delayed');
    expect(waits.error?.['code']).to.equal('INTERNAL');
    const inSeconds = (Number(waits.run_at) - Date.now()) / 1000;
    expect(inSeconds).to.be.greaterThan(3).and.lessThan(13); // 10 s with a quarter of jitter
    expect(workers.noted(id)).to.equal(1);
    await workers.hasten(id);
    const over = await workers.reaches(id, 'failed');
    expect(over).to.include({ attempts: 2 });
    expect(over.finished_at).to.be.instanceOf(Date);
  });

  it('succeeds at the second attempt', async () => {
    const id = await workers.enqueueAct('fail-once');
    await workers.reaches(id, 'delayed');
    await workers.hasten(id);
    expect((await workers.reaches(id, 'completed')).result).to.deep.equal({ attempt: 2 });
    const attempts = await workers
      .db('job_attempts')
      .where({ job_id: id })
      .orderBy('number')
      .select('number', 'outcome');
    expect(attempts).to.deep.equal([
      { number: 1, outcome: 'failed' },
      { number: 2, outcome: 'completed' },
    ]);
  });

  it('reports why a job is postponed, which is no attempt', async () => {
    const id = await workers.enqueueAct('postpone');
    expect(await workers.reaches(id, 'delayed')).to.include({ attempts: 0, waits_for: 'storage' });
  });

  it('does not retry a failure that its handler declares final', async () => {
    const over = await workers.reaches(await workers.enqueueAct('final'), 'failed');
    expect(over).to.include({ attempts: 1 });
    expect(over.error).to.deep.equal({ code: 'STORAGE_UNAVAILABLE', message: 'nothing will mend this' });
  });

  it('reveals only the parts of a failure that its handler meant to be read', async () => {
    const id = await workers.enqueueAct('leak', { maxAttempts: 1 });
    const { error } = await workers.reaches(id, 'failed');
    const attempts = await workers.db('job_attempts').where({ job_id: id });
    expect(JSON.stringify([error, attempts]))
      .to.not.include('/films')
      .and.not.include('secret');
  });

  it('does not retry a job that was cancelled while it failed', async () => {
    const id = await workers.enqueueAct('fail-cancelled');
    expect(await workers.reaches(id, 'cancelled')).to.include({ attempts: 1, error: null });
  });

  it('gives up a job whose worker died each time: records so in the history, and notifies those who manage jobs', async () => {
    const { id: accountId } = await insertAccount(workers.db, { username: 'owner', role: 'owner', passwordHash: null });
    const id = await workers.enqueueAct('wait', { runAt: new Date(Date.now() + 60_000) });
    const longAgo = new Date(Date.now() - 86_400_000);
    await workers.db('jobs').where({ id }).update({ state: 'active', losses: 3, updated_at: longAgo });
    await workers
      .db('job_attempts')
      .insert({ job_id: id, number: 1, started_at: new Date(), pod: 'dead', node: 'dead' });
    await workers.hasten(id);
    expect((await workers.reaches(id, 'failed')).error).to.include({ reason: 'worker-lost' });
    const changed = await workers.db('jobs').where({ id }).where('updated_at', '>', longAgo).pluck('id');
    expect(changed, 'a reader of changes gets it').to.deep.equal([id]);
    expect(await workers.db('job_attempts').where({ job_id: id }).pluck('outcome')).to.deep.equal(['lost']);
    const notified = await workers
      .db('notifications as n')
      .join('profiles as p', 'p.id', 'n.profile_id')
      .where({ 'p.account_id': accountId, 'n.kind': 'job-failed' });
    expect(notified.map(({ target }) => target.id)).to.deep.equal([id]);
  });

  it('begins no job again that was cancelled before its worker was lost', async () => {
    const id = await workers.enqueueAct('wait', { runAt: new Date(Date.now() + 60_000) });
    await workers.db('jobs').where({ id }).update({ state: 'active', cancel_requested: true });
    await workers.hasten(id);
    expect((await workers.reaches(id, 'cancelled')).finished_at).to.be.instanceOf(Date);
    expect(workers.noted(id)).to.equal(0);
  });

  it('stops a job that is cancelled while it runs', async () => {
    const id = await workers.enqueueAct('wait');
    await workers.reaches(id, 'active');
    await workers.db('jobs').where({ id }).update({ cancel_requested: true });
    const over = await workers.reaches(id, 'cancelled');
    expect(over.finished_at).to.be.instanceOf(Date);
    expect(workers.noted(id)).to.equal(1);
  });

  it('hears at once that a job is cancelled, and receives nothing about one that waits', async () => {
    const id = await workers.enqueueAct('wait');
    const waiting = await workers.enqueueAct('', { runAt: new Date(Date.now() + 60_000) });
    await workers.reaches(id, 'active');
    const notified: string[] = [];
    const ear = await workers.hear('foyer_jobs_cancelled', (job) => notified.push(job));
    await cancel(workers.db, [waiting, id]);
    await workers.reaches(id, 'cancelled');
    await eventually(() => notified.length > 0);
    expect(notified).to.deep.equal([id]);
    await ear();
    const other = await workers.enqueueAct('wait');
    await workers.reaches(other, 'active');
    await workers.db.raw(`select pg_notify('foyer_jobs_cancelled', ?)`, [other]); // nothing that a look at the row finds
    await workers.reaches(other, 'cancelled');
  });

  it('does not begin a job that was cancelled before', async () => {
    const id = await workers.enqueueAct('', { runAt: new Date(Date.now() + 60_000) });
    await workers.db('jobs').where({ id }).update({ state: 'cancelled' });
    await workers.hasten(id);
    await eventually(async () => {
      const left = await workers.db.raw<{ rows: object[] }>(
        `select 1 from graphile_worker._private_jobs where key = ?`,
        [id],
      );
      return left.rows.length === 0;
    });
    expect(workers.noted(id)).to.equal(0);
  });

  it('runs equal work under a key once while it waits, and once more when requested while it runs', async () => {
    const first = await workers.enqueueAct('wait', { key: 'same' });
    await workers.reaches(first, 'active');
    const later = { key: 'same', runAt: new Date(Date.now() + 1000) };
    const ids = await Promise.all([1, 2, 3].map(() => workers.enqueueAct('', later)));
    const [second = ''] = ids;
    expect(new Set(ids).size).to.equal(1);
    expect(second).to.not.equal(first);
    await workers.reaches(second, 'completed');
    expect(workers.noted(second)).to.equal(1);
    expect((await workers.job(first)).state).to.equal('active');
    await workers.db('jobs').where({ id: first }).update({ cancel_requested: true });
  });

  it('takes over within seconds from a worker that was killed, at its last checkpoint, as the same attempt', async () => {
    const own = await Workers.make();
    const [first] = await Promise.all([own.start()]);
    const id = await own.enqueueAct('checkpoint');
    await eventually(() => own.noted(id, 'kept') === 1);
    await own.start();
    const began = Date.now();
    await own.kill(first);
    const done = await own.reaches(id, 'completed');
    expect(Date.now() - began).to.be.lessThan(60_000); // 4 hours without the sweep
    expect(done).to.include({ attempts: 1, losses: 1, progress: 1, done_units: 50, total_units: 100, unit: 'items' });
    expect(done.result).to.deep.equal({ went: 'on', from: { at: 7 }, attempt: 1 });
    expect(own.noted(id)).to.equal(2);
    await own.end();
  });

  it('gives a job back at SIGTERM without using an attempt, and ends well', async () => {
    const own = await Workers.make();
    const first = await own.start();
    const id = await own.enqueueAct('checkpoint', { maxAttempts: 1 });
    await eventually(() => own.noted(id, 'kept') === 1);
    const began = Date.now();
    expect(await own.kill(first, 'SIGTERM')).to.equal(0);
    expect(Date.now() - began).to.be.lessThan(14_000); // without the signal's abort the job is waited for longer
    expect(await own.job(id)).to.include({ state: 'waiting', attempts: 0, losses: 0 });
    await own.start();
    const done = await own.reaches(id, 'completed');
    expect(done).to.include({ attempts: 1, losses: 0 });
    expect(done.result).to.include({ went: 'on', attempt: 1 });
    await own.end();
  });

  it('queues a scheduled kind once, although two workers keep the time', async () => {
    const own = await Workers.make();
    // Both clocks are set to 4 s before the minute at which events.trim is due.
    const due = Math.floor(Date.now() / 600_000) * 600_000;
    const clock = { TEST_CLOCK: String(due - 4000) };
    await own.db('maintenance_tasks').insert({ id: 'events.trim', next_run_at: new Date(due) });
    await Promise.all([own.start(clock), own.start(clock)]);
    const made = () => own.db('jobs').where({ kind: 'events.trim' }).select<{ id: string; cause: string }[]>();
    const [only] = await eventually(async () => {
      const rows = await made();
      return rows.length > 0 && rows;
    });
    await own.reaches(only?.id ?? '', 'completed');
    await sleep(1500); // the other worker's chance
    expect(await made()).to.have.length(1);
    expect(only?.cause).to.equal('schedule');
    expect(own.noted(only?.id ?? '')).to.equal(1);
    await own.end();
  });
});
