// Jobs of the maintenance window in a worker.
import { expect } from 'chai';
import { tick } from '#areas/maintenance/public.ts';
import { type Api, startApi } from '#support/api.ts';
import { Hours } from '#workers/maintenance.ts';
import { runJob } from '#workers/run-job.ts';
import { Suspects } from '#workers/suspects.ts';
import type { Handlers } from '#workers/work.ts';

describe('a job of the maintenance window', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.db.raw('truncate jobs, maintenance_tasks cascade');
    await open(true);
  });

  const clock = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
  /** A window around now, or one that begins in an hour. */
  const open = (isOpen: boolean) => {
    const [from, to] = isOpen ? [clock(-120), clock(120)] : [clock(60), clock(120)];
    return api.deps.db('maintenance').update({ window: JSON.stringify({ from, to, timeZone: 'UTC' }) });
  };
  const hoursNow = async (): Promise<Hours> => {
    const hours = new Hours();
    await hours.look({ query: (sql: string) => api.deps.db.raw(sql) } as never, 'UTC');
    return hours;
  };
  async function given(id: string): Promise<string> {
    await tick(api.deps.db, 'UTC');
    await api.deps.db('maintenance_tasks').update({ next_run_at: null });
    await api.deps
      .db('maintenance_tasks')
      .where({ id })
      .update({ next_run_at: new Date(Date.now() - 1000), moved: true });
    await tick(api.deps.db, 'UTC');
    const job = await api.deps.db('jobs').where({ kind: id }).first('id');
    return job?.id ?? '';
  }
  async function run(id: string, handle: (work: never) => Promise<void>, hours: Hours): Promise<void> {
    const handlers = new Proxy({}, { get: () => (_payload: unknown, work: never) => handle(work) }) as Handlers;
    const setting = { deps: api.deps, hours, handlers, stop: new AbortController().signal, paused: () => false };
    await runJob(id, { ...setting, running: new Map(), suspects: new Suspects() });
  }
  const row = async (id: string) => {
    const found = await api.deps.db('jobs').where({ id }).first();
    if (!found) throw new Error('no job');
    return found;
  };

  it('does not begin while the window is closed, and begins when a person requests it', async () => {
    const id = await given('analysis.intros');
    await open(false);
    let ran = 0;
    const count = async (): Promise<void> => {
      ran += 1;
    };
    await run(id, count, await hoursNow());
    const waiting = await row(id);
    expect([ran, waiting.state, waiting.waits_for]).to.deep.equal([0, 'delayed', 'maintenance-window']);
    expect(waiting.run_at?.getTime()).to.be.within(Date.now() + 55 * 60_000, Date.now() + 65 * 60_000);
    await api.deps.db('jobs').where({ id }).update({ cause: 'person' });
    await run(id, count, await hoursNow());
    expect([ran, (await row(id)).state]).to.deep.equal([1, 'completed']);
  });

  it('goes on to its next checkpoint when the window closes, and continues from it in the next one', async () => {
    const id = await given('analysis.intros');
    const hours = await hoursNow();
    type Kept = { keep: (db: unknown, mark: unknown) => Promise<void>; signal: AbortSignal; checkpoint: unknown };
    const seen: unknown[] = [];
    const step = async (work: Kept): Promise<void> => {
      seen.push(work.checkpoint);
      await open(false);
      await hours.look({ query: (sql: string) => api.deps.db.raw(sql) } as never, 'UTC');
      expect(work.signal.aborted).to.equal(false);
      await work.keep(api.deps.db, { file: 7 });
      work.signal.throwIfAborted();
    };
    await run(id, step as never, hours);
    expect(await row(id)).to.include({ state: 'delayed', attempts: 0, waits_for: 'maintenance-window' });
    await open(true);
    await run(id, (async ({ checkpoint }: Kept) => void seen.push(checkpoint)) as never, await hoursNow());
    expect(seen).to.deep.equal([null, { file: 7 }]);
  });

  it('that fails is reported after the third failure in a row only', async () => {
    await api.given.owner();
    const notices = async () => (await api.deps.db('notifications').where({ kind: 'job-failed' })).length;
    const counts: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const id = await given('objects.sweep');
      await api.deps.db('jobs').where({ id }).update({ max_attempts: 1 });
      const before = await notices();
      await run(id, () => Promise.reject(new Error('no')), await hoursNow());
      expect((await row(id)).state).to.equal('failed');
      counts.push((await notices()) - before);
      await api.deps.db('jobs').where({ id }).delete();
    }
    expect(counts).to.deep.equal([0, 0, 1, 0]);
  });
});
