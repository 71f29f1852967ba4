import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import type { EnqueueOptions } from '#platform/jobs.ts';
import { createLog } from '#platform/log.ts';
import { enqueue } from '#platform/queue.ts';
import { connectRedis, type Redis } from '#platform/redis.ts';
import { announceSettings, saveSettings } from '#platform/settings.ts';
import { connectLoosely, type LooseDb } from './loose.ts';
import { atEnd, eventually, newDatabase, redisUrl, temporaryFolder } from './stores.ts';

export interface Job {
  state: string;
  attempts: number;
  losses: number;
  result: Record<string, unknown> | null;
  error: Record<string, unknown> | null;
  run_at: Date | null;
  finished_at: Date | null;
  progress: number;
}

const entry = new URL('./worker.ts', import.meta.url).pathname;

/** Worker processes of `worker.ts` on a database of their own. */
export class Workers {
  readonly #scratch = temporaryFolder('runtime');
  readonly #living = new Set<ChildProcess>();
  readonly #environment: Record<string, string>;
  readonly db: LooseDb;
  readonly #redis: Redis;

  static async make(): Promise<Workers> {
    return new Workers(await newDatabase(), await redisUrl());
  }

  private constructor(databaseUrl: string, redis: string) {
    this.#environment = {
      FOYER_DATABASE_URL: databaseUrl,
      FOYER_REDIS_URL: redis,
      FOYER_OBJECTS_URL: `file://${this.#scratch}/objects`,
      FOYER_KEYS_FILE: `${this.#scratch}/none`,
      FOYER_SCRATCH_DIR: this.#scratch,
      FOYER_LOG_LEVEL: process.env['TEST_LOG'] ?? 'silent',
    };
    const log = createLog('silent', 'test');
    this.db = connectLoosely(databaseUrl, log);
    this.#redis = connectRedis(redis, log);
    atEnd(() => this.#redis.disconnect());
    atEnd(() => this.db.destroy());
    atEnd(() => this.end());
  }

  async start(more: Record<string, string> = {}): Promise<ChildProcess> {
    const env = { ...process.env, ...this.#environment, ...more };
    const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#living.add(child);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    expect(child.exitCode, 'the worker ended').to.equal(null);
    return child;
  }

  /** Its exit code; null when the signal ended it. */
  async kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    this.#living.delete(child);
    return child.exitCode;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#living].map((child) => this.kill(child)));
  }

  anyAlive(): boolean {
    return [...this.#living].some((child) => child.exitCode === null && child.signalCode === null);
  }

  /** A job with the effect that `act` names in worker.ts. */
  enqueueAct(act: string, options: EnqueueOptions = {}): Promise<string> {
    return this.db.transaction((transaction) =>
      enqueue(transaction, 'library.purge', { payload: { reason: act }, options }),
    );
  }

  async job(id: string): Promise<Job> {
    return this.db('jobs').where({ id }).first<Job>();
  }

  reaches(id: string, state: string): Promise<Job> {
    return eventually(async () => {
      const row = await this.job(id);
      return row.state === state && row;
    }, 60_000);
  }

  /** How often the job wrote `word`; `began` counts its attempts. */
  noted(id: string, word = 'began'): number {
    return readdirSync(this.#scratch).filter((name) => name.startsWith(`${id}.${word}.`)).length;
  }

  /** Saves settings and notifies the workers, as the API does. */
  async settle(values: Parameters<typeof saveSettings>[1]): Promise<void> {
    await saveSettings(this.db, values, null);
    await announceSettings(this.#redis);
  }

  /** Listens on a channel of the database until the returned function is called. */
  async hear(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: this.#environment['FOYER_DATABASE_URL'] });
    client.on('notification', ({ payload }) => heard(payload ?? ''));
    await client.connect();
    await client.query(`listen ${channel}`);
    return () => client.end();
  }

  /** Brings a delayed job's time forward to now. */
  async hasten(id: string): Promise<void> {
    await this.db.raw(`update graphile_worker._private_jobs set run_at = now() where key = ?`, [id]);
  }
}
