// A tuner process that has to leave: its streams go on elsewhere, or at the next process of its tuner.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#platform/db.ts';
import { handOver, hasStranded, otherTuners } from '#platform/live/hand-over.store.ts';
import { runningTuners } from '#platform/live/tuners.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis.ts';
import type { TunerLease } from './lease.ts';

const LOOK_MS = 250;

export interface Leaver {
  db: Db;
  redis: Redis;
  log: Log;
  tunerId: string;
}

async function others({ db, redis, tunerId }: Leaver): Promise<ReadonlySet<string>> {
  return (await runningTuners(redis, await otherTuners(db, tunerId))) ?? new Set();
}

/** Waits while only this process can receive one of its streams, until another one of its tuner waits for the lease. */
export async function waitForNext(leaver: Leaver, lease: TunerLease, limitMs: number): Promise<void> {
  const { db, log, tunerId } = leaver;
  try {
    for (const end = Date.now() + limitMs; Date.now() < end; await sleep(LOOK_MS)) {
      if ((await lease.isRequested()) || !(await hasStranded(db, tunerId, await others(leaver)))) return;
    }
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'the streams end at once');
  }
}

/** Streams that are recorded or watched go on at other tuners that have the channel, after the last segment of this one. */
export async function passStreams(leaver: Leaver): Promise<void> {
  const { db, log, tunerId } = leaver;
  try {
    const running = await others(leaver);
    if (running.size === 0) return;
    const channels = await db.transaction((tx) => handOver(tx, tunerId, running));
    if (channels.length > 0) log.info({ channels }, 'other tuners take the streams over');
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'the streams were not handed over');
  }
}
