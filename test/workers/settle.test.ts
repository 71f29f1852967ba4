// Rows that stand for a job end with it, however the job ends.
import { expect } from 'chai';
import { requestScan } from '#areas/scanning/public.ts';
import { findClip } from '#areas/streaming/preroll/preroll.store.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { Hours } from '#workers/maintenance.ts';
import { runJob } from '#workers/run-job.ts';
import { settleOnce } from '#workers/settle.ts';
import { Suspects } from '#workers/suspects.ts';
import { FinalFailure, type Handlers } from '#workers/work.ts';

describe('the subject of a job', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });

  /** A scan of a library of its own, and its job. */
  async function newScan(): Promise<{ id: string; jobId: string; libraryId: string }> {
    const { db } = api.deps;
    const { id: libraryId } = await givenLibrary(db, 'movies');
    const { id } = await db.transaction((inside) =>
      requestScan(inside, { libraryId, mode: 'full', trigger: 'person' }),
    );
    const row = await db('scans').where({ id }).first<{ job_id: string }>();
    return { id, jobId: row.job_id, libraryId };
  }

  const scanOf = (id: string) => api.deps.db('scans').where({ id }).first();
  const lose = (jobId: string, more: object = {}) =>
    api.deps
      .db('jobs')
      .where({ id: jobId })
      .update({ state: 'active', losses: 3, ...more });
  const begun = (id: string) =>
    api.deps
      .db('scans')
      .where({ id })
      .update({
        state: 'running',
        started_at: new Date(),
        lease_holder: newId(),
        lease_until: new Date(Date.now() + 15_000),
      });

  async function run(id: string, handle?: () => Promise<never>): Promise<void> {
    const handlers = { 'library.scan': handle } as unknown as Handlers;
    const setting = { deps: api.deps, handlers, stop: new AbortController().signal, paused: () => false };
    await runJob(id, { ...setting, hours: new Hours(), running: new Map(), suspects: new Suspects() });
  }

  it('fails when its workers died each time: the library can be scanned again and shows the reason', async () => {
    const { id, jobId, libraryId } = await newScan();
    await begun(id);
    await lose(jobId);
    await run(jobId);
    const row = await scanOf(id);
    expect([row.state, row.error.reason]).to.deep.equal(['failed', 'worker-lost']);
    expect(row.finished_at).to.be.an.instanceOf(Date);
    const events = await api.deps.db('outbox').where({ event: 'library.scan.failed' }).select('payload');
    expect(events.map(({ payload }) => payload.scanId)).to.include(id);
    const again = await api.deps.db.transaction((inside) =>
      requestScan(inside, { libraryId, mode: 'full', trigger: 'person' }),
    );
    expect(again).to.include({ created: true });
    expect(again.id).to.not.equal(id);
  });

  it('is cancelled when the job of a worker that died was cancelled', async () => {
    const { id, jobId } = await newScan();
    await begun(id);
    await lose(jobId, { cancel_requested: true });
    await run(jobId);
    expect((await scanOf(id)).state).to.equal('cancelled');
  });

  it('fails with a job whose handler fails for the last time without a word about it', async () => {
    const { id, jobId } = await newScan();
    await begun(id);
    await run(jobId, async () => Promise.reject(new FinalFailure('X', 'the database was lost as it ended')));
    expect((await scanOf(id)).state).to.equal('failed');
  });

  it('is cancelled at once through its job while no worker holds it', async () => {
    const { id, jobId } = await newScan();
    await begun(id);
    await api.deps.db('jobs').where({ id: jobId }).update({ state: 'delayed' });
    const admin = api.as(await api.given.admin());
    expect((await admin.cancelJobs({ body: { ids: [jobId] } })).status).to.equal(200);
    expect((await scanOf(id)).state).to.equal('cancelled');
  });

  it('ends at the start of a worker where its job ended or is gone, and not while a worker holds it', async () => {
    const { db } = api.deps;
    const over = new Date(Date.now() - 1000);
    const [failed, gone, held, live] = [await newScan(), await newScan(), await newScan(), await newScan()];
    for (const { id } of [failed, gone, live]) {
      await begun(id);
      await db('scans').where({ id }).update({ lease_until: over });
    }
    await begun(held.id);
    await db('jobs').whereIn('id', [failed.jobId, held.jobId]).update({ state: 'failed' });
    await db('jobs').where({ id: gone.jobId }).delete();
    await db.transaction((inside) => settleOnce(inside, true));
    const states = await Promise.all([failed, gone, held, live].map(async ({ id }) => (await scanOf(id)).state));
    expect(states).to.deep.equal(['failed', 'failed', 'running', 'running']);
  });

  it('is carried on where the queue lost the task of its job', async () => {
    const { db } = api.deps;
    const { jobId } = await newScan();
    await db.raw('select graphile_worker.remove_job(?)', [jobId]);
    const tasks = async () =>
      (await db.raw('select count(*)::int as n from graphile_worker.jobs where key = ?', [jobId])).rows[0].n;
    expect(await tasks()).to.equal(0);
    await db.transaction((inside) => settleOnce(inside, false));
    expect(await tasks()).to.equal(0);
    await db.transaction((inside) => settleOnce(inside, true));
    expect(await tasks()).to.equal(1);
  });

  it('is a restore that a process of its own runs: it gets no task', async () => {
    const { db } = api.deps;
    const id = newId();
    await db('jobs').insert({ id, kind: 'backup.restore', queue: 'maintenance', state: 'waiting', payload: '{}' });
    await db.transaction((inside) => settleOnce(inside, true));
    const tasks = await db.raw('select count(*)::int as n from graphile_worker.jobs where key = ?', [id]);
    expect(tasks.rows[0].n).to.equal(0);
  });

  it('is a clip that was never made: it fails, and is not prepared for ever', async () => {
    const { db } = api.deps;
    const id = newId();
    const item = await givenItem(db, await givenLibrary(db, 'videos'));
    const row = { id, position: 0, item_id: item, title: 'A clip', duration_ms: 1000, weight: 1, library_ids: [] };
    await db('preroll_clips').insert({ ...row, state: 'preparing' });
    await db.transaction((inside) => settleOnce(inside, false));
    expect(await findClip(db, id)).to.include({ state: 'failed', error: 'not-made' });
  });
});
