// A worker process for the tests of the runtime: the real runtime under handlers that follow their job's payload.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { createLog } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { FinalFailure, type Handlers, Postponed, type Work } from '#workers/work.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'test-worker');
const db = connectDatabase(config.databaseUrl, log, { max: 5 });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const settings = createSettings({ config, db, redis, log });

/** One line for each attempt, so that the test can count them. */
const note = (work: Work, word: string): void =>
  writeFileSync(join(config.scratchDir, `${work.jobId}.${word}.${newId()}`), String(process.pid));

/** The effect of `library.purge` here, by its `reason`. */
const acts: Record<string, (work: Work) => Promise<unknown>> = {
  die: async () => process.kill(process.pid, 'SIGKILL'),
  slow: async ({ signal }) => sleep(1000, undefined, { signal }),
  wait: async ({ signal }) => sleep(60_000, undefined, { signal }),
  checkpoint: async (work) => {
    if (work.checkpoint) return { went: 'on', from: work.checkpoint, attempt: work.attempt };
    await work.keep(work.db, { at: 7 }, { done: 50, total: 100, unit: 'items' });
    note(work, 'kept');
    return sleep(60_000, undefined, { signal: work.signal });
  },
  steps: async (work) => {
    const from = (work.checkpoint as { at: number } | null)?.at ?? 0;
    for (let at = from + 1; ; at += 1) {
      await work.keep(work.db, { at });
      await sleep(50, undefined, { signal: work.signal });
    }
  },
  // Gets one step further each time before it takes its worker along, five times.
  'die-further': async (work) => {
    const at = (work.checkpoint as { at: number } | null)?.at ?? 0;
    if (at === 5) return { at };
    await work.keep(work.db, { at: at + 1 });
    return process.kill(process.pid, 'SIGKILL');
  },
  fail: async () => {
    throw new Error('no luck');
  },
  leak: async () => {
    throw new Error("ENOENT: no such file, open '/films/A film.mkv' by smb://me:secret@nas");
  },
  'fail-cancelled': async (work) => {
    await work.db('jobs').where({ id: work.jobId }).update({ cancel_requested: true });
    throw new Error('no luck, and no one needs it any more');
  },
  'fail-once': async ({ attempt }) => {
    if (attempt === 1) throw new Error('no luck yet');
    return { attempt };
  },
  postpone: async () => {
    throw new Postponed(new Date(Date.now() + 600_000), 'storage');
  },
  final: async () => {
    throw new FinalFailure('STORAGE_UNAVAILABLE', 'nothing will mend this');
  },
};

const tests: Handlers = {
  ...handlers,
  'library.purge': async ({ reason = '' }, work) => {
    note(work, 'began');
    return acts[reason]?.(work);
  },
  'events.trim': async (_payload, work) => note(work, 'began'),
};

/** From here on the clock of this process runs from the given time. */
function setClock(toMs: number): void {
  const RealDate = Date;
  const ahead = toMs - RealDate.now();
  const now = (): number => RealDate.now() + ahead;
  globalThis.Date = class extends RealDate {
    static override now = now;
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [now()] : args) as [number]));
    }
  } as DateConstructor;
}
const clock = Number(process.env['TEST_CLOCK'] ?? 0);
if (clock !== 0) setClock(clock);

const runtime = await startRuntime({ config, db, redis, objects, settings, log }, tests, () => process.exit(1));
process.once('SIGTERM', () => void runtime.stop().then(() => process.exit(0)));
process.stdout.write('up\n');
