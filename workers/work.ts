import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, EventName, Payload } from '#platform/events.ts';
import type { EnqueueOptions, JobName, JobPayload } from '#platform/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Settings } from '#platform/settings.ts';

/** What a worker process is made of. */
export interface WorkerDeps {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  settings: Settings;
  log: Log;
}

/** What a handler gets beside its payload: one attempt of one job. */
export interface Work extends WorkerDeps {
  jobId: string;
  /** 1 at the first attempt; a takeover after a lost worker is no new attempt. */
  attempt: number;
  /** Aborted when the job is cancelled (reason `cancelled`) or the process is told to stop (reason `stopping`). */
  signal: AbortSignal;
  /** What an earlier attempt kept with `keep`. */
  checkpoint: unknown;
  /** Keeps a checkpoint and how much is done; in the given transaction, so that work and checkpoint are one. */
  keep: (db: Db, checkpoint: unknown, units?: Units) => Promise<void>;
  /** Says how much is done, without a checkpoint; at most twice a second. */
  report: (db: Db, units: Units) => Promise<void>;
  emit: <N extends EventName>(db: Db, name: N, event: { payload: Payload<N>; facts?: EventFacts }) => Promise<void>;
  enqueue: <N extends JobName>(
    db: Db,
    name: N,
    job: { payload: JobPayload<N>; options?: EnqueueOptions },
  ) => Promise<string>;
}

/** What a job counts; without a total nobody knows yet how much there is. */
export interface Units {
  done: number;
  total?: number;
  unit: 'files' | 'items' | 'bytes' | 'ms';
}

export type Handler<N extends JobName> = (payload: JobPayload<N>, work: Work) => Promise<unknown>;

/** One handler for each kind that can be queued: the compiler finds a forgotten one. */
export type Handlers = { [N in JobName]: Handler<N> };

/** The work has to wait for something else: it is taken up again later, and this was no attempt. */
export class Postponed extends Error {
  readonly runAt: Date;
  /** Shown with the job; absent for a mere time. */
  readonly waitsFor: 'slot' | 'storage' | undefined;
  constructor(runAt: Date, waitsFor?: 'slot' | 'storage') {
    super('postponed');
    this.runAt = runAt;
    this.waitsFor = waitsFor;
  }
}

/** A failure that another attempt will not mend; `code` is shown with the job. */
export class FinalFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
