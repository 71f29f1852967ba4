import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connectDatabase, type Db } from '#platform/db.ts';
import type { EnqueueOptions } from '#platform/jobs.ts';
import { createLog } from '#platform/log.ts';
import { enqueue } from '#platform/queue.ts';
import { atEnd, eventually, newDatabase, redisUrl, temporaryFolder } from '#support/stores.ts';

interface Job {
  state: string;
  attempts: number;
  losses: number;
  result: Record<string, unknown> | null;
  error: Record<string, unknown> | null;
  run_at: Date | null;
  finished_at: Date | null;
  progress: number;
}

describe('worker runtime', function () {
  this.timeout(60_000);
  const scratch = temporaryFolder('runtime');
  let environment: Record<string, string>;
  let db: Db;
  const living = new Set<ChildProcess>();

  beforeEach(async () => {
    environment = {
      FOYER_DATABASE_URL: await newDatabase(),
      FOYER_REDIS_URL: await redisUrl(),
      FOYER_OBJECTS_URL: `file://${scratch}/objects`,
      FOYER_KEYS_FILE: `${scratch}/none`,
      FOYER_SCRATCH_DIR: scratch,
      FOYER_LOG_LEVEL: process.env['TEST_LOG'] ?? 'silent',
    };
    const own = connectDatabase(environment['FOYER_DATABASE_URL'] ?? '', createLog('silent', 'test'));
    db = own;
    atEnd(() => own.destroy());
  });
  const kill = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> => {
    const exit = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await exit;
    }
    living.delete(child);
    return child.exitCode;
  };
  afterEach(async () => {
    await Promise.all([...living].map((child) => kill(child)));
  });

  const startWorker = async (more: Record<string, string> = {}): Promise<ChildProcess> => {
    const entry = new URL('../support/worker.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [entry], {
      env: { ...process.env, ...environment, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    living.add(child);
    const out = child.stdout;
    if (out) await Promise.race([once(out, 'data'), once(child, 'exit')]);
    expect(child.exitCode, 'the worker ended').to.equal(null);
    return child;
  };
  const ask = (reason: string, options: EnqueueOptions = {}): Promise<string> =>
    db.transaction((transaction) => enqueue(transaction, 'library.purge', { payload: { reason }, options }));
  const job = async (id: string): Promise<Job> => db('jobs').where({ id }).first<Job>();
  const reaches = (id: string, state: string, limitMs = 15_000): Promise<Job> =>
    eventually(async () => {
      const row = await job(id);
      return row.state === state && row;
    }, limitMs);
  const noted = (id: string, word = 'began'): number =>
    readdirSync(scratch).filter((name) => name.startsWith(`${id}.${word}.`)).length;

  it('takes over within seconds from a worker that was killed, where it had got to, as the same attempt', async () => {
    const first = await startWorker();
    const id = await ask('checkpoint');
    await eventually(() => noted(id, 'kept') === 1);
    await startWorker();
    const began = Date.now();
    await kill(first);
    const done = await reaches(id, 'completed');
    expect(Date.now() - began).to.be.lessThan(10_000); // 4 hours without the sweep
    expect(done).to.include({ attempts: 1, losses: 1, progress: 1 });
    expect(done.result).to.deep.equal({ went: 'on', from: { at: 7 }, attempt: 1 });
    expect(noted(id)).to.equal(2);
  });

  it('gives a job up as worker-lost once it has taken four workers with it, and harms no other', async () => {
    await startWorker();
    const id = await ask('die', { maxAttempts: 1 });
    const other = await ask('');
    const deadline = Date.now() + 50_000;
    let row = await job(id);
    while (row.state !== 'failed' && Date.now() < deadline) {
      const alive = [...living].some((child) => child.exitCode === null && child.signalCode === null);
      if (!alive) await startWorker();
      await sleep(100);
      row = await job(id);
    }
    expect(row).to.include({ state: 'failed', attempts: 1, losses: 3 });
    expect(row.error).to.include({ code: 'INTERNAL', reason: 'worker-lost' });
    expect(noted(id)).to.equal(4);
    expect((await reaches(other, 'completed')).losses).to.be.lessThan(2);
  });

  it('gives a job back at SIGTERM without using an attempt, and ends well', async () => {
    const first = await startWorker();
    const id = await ask('checkpoint', { maxAttempts: 1 });
    await eventually(() => noted(id, 'kept') === 1);
    const began = Date.now();
    expect(await kill(first, 'SIGTERM')).to.equal(0);
    expect(Date.now() - began).to.be.lessThan(10_000);
    expect(await job(id)).to.include({ state: 'waiting', attempts: 0, losses: 0 });
    await startWorker();
    const done = await reaches(id, 'completed');
    expect(done).to.include({ attempts: 1, losses: 0 });
    expect(done.result).to.include({ went: 'on', attempt: 1 });
  });

  describe('with one worker', () => {
    beforeEach(() => startWorker());

    it('tries again later after a failure, and gives up after the last attempt', async () => {
      const id = await ask('fail', { maxAttempts: 2 });
      const waits = await reaches(id, 'delayed');
      expect(waits.error).to.deep.equal({ code: 'INTERNAL', message: 'no luck' });
      const inSeconds = (Number(waits.run_at) - Date.now()) / 1000;
      expect(inSeconds).to.be.greaterThan(4).and.lessThan(13); // 10 s with a quarter of jitter
      expect(noted(id)).to.equal(1);
      await db.raw(`update graphile_worker._private_jobs set run_at = now() where key = ?`, [id]);
      const over = await reaches(id, 'failed');
      expect(over).to.include({ attempts: 2 });
      expect(over.finished_at).to.be.instanceOf(Date);
    });

    it('succeeds at the second attempt', async () => {
      const id = await ask('fail-once');
      await reaches(id, 'delayed');
      await db.raw(`update graphile_worker._private_jobs set run_at = now() where key = ?`, [id]);
      expect((await reaches(id, 'completed')).result).to.deep.equal({ attempt: 2 });
    });

    it('does not try again what its handler says is final', async () => {
      const id = await ask('final');
      const over = await reaches(id, 'failed');
      expect(over).to.include({ attempts: 1 });
      expect(over.error).to.deep.equal({ code: 'STORAGE_UNAVAILABLE', message: 'nothing will mend this' });
    });

    it('stops a job that is cancelled while it runs', async () => {
      const id = await ask('wait');
      await reaches(id, 'active');
      await db('jobs').where({ id }).update({ cancel_requested: true });
      const over = await reaches(id, 'cancelled');
      expect(over.finished_at).to.be.instanceOf(Date);
      expect(noted(id)).to.equal(1);
    });

    it('does not begin a job that was cancelled before', async () => {
      const id = await ask('wait', { runAt: new Date(Date.now() + 1500) });
      await db('jobs').where({ id }).update({ state: 'cancelled' });
      await db.raw(`update graphile_worker._private_jobs set run_at = now() where key = ?`, [id]);
      await eventually(async () => {
        const { rows } = await db.raw<{ rows: object[] }>(`select 1 from graphile_worker._private_jobs where key = ?`, [
          id,
        ]);
        return rows.length === 0;
      });
      expect(noted(id)).to.equal(0);
    });

    it('runs equal work under a key once while it waits, and once more when asked while it runs', async () => {
      const first = await ask('wait', { key: 'same' });
      await reaches(first, 'active');
      const [second, third, fourth] = await Promise.all([
        ask('', { key: 'same', runAt: new Date(Date.now() + 1000) }),
        ask('', { key: 'same', runAt: new Date(Date.now() + 1000) }),
        ask('', { key: 'same', runAt: new Date(Date.now() + 1000) }),
      ]);
      expect([third, fourth]).to.deep.equal([second, second]);
      expect(second).to.not.equal(first);
      await reaches(second, 'completed');
      expect(noted(second)).to.equal(1);
      expect((await job(first)).state).to.equal('active');
    });
  });

  it('queues a scheduled kind once, although two workers keep the time', async () => {
    // Both clocks stand 3 s before the last tenth minute, which the jobs of events.trim are due at.
    const due = Math.floor(Date.now() / 600_000) * 600_000;
    const TEST_CLOCK_MS = String(due - Date.now() - 3000);
    await Promise.all([startWorker({ TEST_CLOCK_MS }), startWorker({ TEST_CLOCK_MS })]);
    const made = () => db('jobs').where({ kind: 'events.trim' }).select<{ id: string; cause: string }[]>('id', 'cause');
    const [only] = await eventually(async () => {
      const rows = await made();
      return rows.length > 0 && rows;
    });
    await reaches(only?.id ?? '', 'completed');
    await sleep(1500); // the other worker's chance
    expect(await made()).to.have.length(1);
    expect(only?.cause).to.equal('schedule');
    expect(noted(only?.id ?? '')).to.equal(1);
  });
});
