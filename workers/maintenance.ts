// The window of heavy work as this process knows it, and the tasks that Maintenance itself has.
import type pg from 'pg';
import { scheduleOf } from '#platform/maintenance/next-run.ts';
import { isTask, type Trigger } from '#platform/maintenance/tasks.ts';
import { openingAt, type StoredWindow, type Window, windowOf } from '#platform/maintenance/window.ts';
import { Postponed, type Work } from './work.ts';

const READ = `select m."window", now() as now,
    (select json_object_agg(t.id, t.trigger) from maintenance_tasks t where t.trigger is not null) as triggers
  from maintenance m`;

interface Seen {
  window: StoredWindow;
  now: Date;
  triggers: Record<string, Trigger> | null;
}

/** Which scheduled jobs may run now. */
export class Hours {
  #window: Window | undefined;
  #triggers: Record<string, Trigger> = {};
  /** How far the clock of Postgres is ahead of this one. */
  #aheadMs = 0;

  async look(client: Pick<pg.Client, 'query'>, serverZone: string): Promise<void> {
    const [seen] = (await client.query<Seen>(READ)).rows;
    if (!seen) return;
    this.#window = windowOf(seen.window, serverZone);
    this.#triggers = seen.triggers ?? {};
    this.#aheadMs = seen.now.getTime() - Date.now();
  }

  /** Whether analyses pause while anyone streams. */
  get yields(): boolean {
    return this.#window?.yieldToStreaming ?? true;
  }

  /** Whether a job that runs when the window closes may go on to its next checkpoint. */
  get finishes(): boolean {
    return this.#window?.finishRunning ?? true;
  }

  /** The next opening for a job of the window while it is closed. A job that a person requested is never held. */
  closedUntil({ kind, cause, key }: { kind: string; cause: string; key: string | null }): Date | undefined {
    if (!this.#window || cause !== 'schedule' || key !== kind || !isTask(kind)) return undefined;
    const changed = { trigger: this.#triggers[kind] ?? null, cron: null, every_ms: null };
    if (scheduleOf(kind, changed).trigger !== 'window') return undefined;
    const now = new Date(Date.now() + this.#aheadMs);
    const opening = openingAt(this.#window, now);
    return opening && opening.opensAt > now ? opening.opensAt : undefined;
  }
}

type Scheduled = Parameters<Hours['closedUntil']>[0];

/** A job of the window continues from its checkpoint when it opens again. */
export const outside = (hours: Hours, job: Scheduled): Postponed =>
  new Postponed(hours.closedUntil(job) ?? new Date(Date.now() + 60_000), 'maintenance-window');

/** Throws `Postponed` for a job of the window while it is closed. */
export function refuseOutside(hours: Hours, job: Scheduled): void {
  if (hours.closedUntil(job)) throw outside(hours, job);
}

/** Job database.analyse: measures every table for the planner. */
export async function analyseDatabase(_payload: unknown, { db, signal }: Work): Promise<void> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select quote_ident(schemaname) || '.' || quote_ident(relname) as name from pg_stat_user_tables
      where n_mod_since_analyze > 0 order by n_mod_since_analyze desc`,
  );
  for (const { name } of rows) {
    signal.throwIfAborted();
    await db.raw(`analyze (skip_locked) ${name}`);
  }
}
