import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, EventName, Payload } from '#platform/events.ts';
import type { EnqueueOptions, JobName, JobPayload } from '#platform/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Settings } from '#platform/settings.ts';

/** Dependencies of a worker process. */
export interface WorkerDeps {
  config: Config;
  db: Db;
  redis: Redis;
  objects: Objects;
  settings: Settings;
  log: Log;
}

/** What a handler gets besides its payload: one attempt of one job. */
export interface Work extends WorkerDeps {
  jobId: string;
  /** 1 for the first attempt; taking over from a lost worker is no new attempt. */
  attempt: number;
  /** Aborted when the job is cancelled (reason `cancelled`) or the process stops (reason `stopping`). */
  signal: AbortSignal;
  /** The checkpoint of an earlier attempt. */
  checkpoint: unknown;
  /** Stores a checkpoint and the progress in the given transaction, so that work and checkpoint are one. */
  keep: (db: Db, checkpoint: unknown, units?: Units) => Promise<void>;
  /** Reports progress without a checkpoint; at most twice a second. */
  report: (db: Db, units: Units) => Promise<void>;
  emit: <N extends EventName>(db: Db, name: N, event: { payload: Payload<N>; facts?: EventFacts }) => Promise<void>;
  enqueue: <N extends JobName>(
    db: Db,
    name: N,
    job: { payload: JobPayload<N>; options?: EnqueueOptions },
  ) => Promise<string>;
}

/** Counts of a job's progress; `total` is absent while unknown. */
export interface Units {
  done: number;
  total?: number;
  unit: 'files' | 'items' | 'bytes' | 'ms';
}

export type Handler<N extends JobName> = (payload: JobPayload<N>, work: Work) => Promise<unknown>;

/** One handler for each kind that can be queued; the compiler finds a missing one. */
export type Handlers = { [N in JobName]: Handler<N> };

/** The work must wait for something else: it is resumed later, and this was no attempt. */
export class Postponed extends Error {
  readonly runAt: Date;
  /** Shown with the job; absent when it only waits for a time. */
  readonly waitsFor: 'slot' | 'storage' | 'maintenance-window' | undefined;
  constructor(runAt: Date, waitsFor?: 'slot' | 'storage' | 'maintenance-window') {
    super('postponed');
    this.runAt = runAt;
    this.waitsFor = waitsFor;
  }
}

/** A failure that retrying cannot fix; `code` is shown with the job. */
export class FinalFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
