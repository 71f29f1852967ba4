import { Cron } from 'croner';
import { specOf, type TaskId, type Trigger } from './tasks.ts';
import { openingAt, type Window } from './window.ts';

export interface Schedule {
  trigger: Trigger;
  cron?: string | undefined;
  everyMs?: number | undefined;
}

/** What a person changed about a task. */
export interface Changed {
  trigger: Trigger | null;
  cron: string | null;
  every_ms: number | null;
}

const USUAL_EVERY_MS = 86_400_000;

/** The schedule of a task: its own, with what a person changed. */
export function scheduleOf(id: TaskId, { trigger, cron, every_ms: every }: Changed): Schedule {
  const usual = specOf(id).cron;
  const kind = trigger ?? (usual === undefined ? 'window' : 'cron');
  if (kind === 'cron') return { trigger: kind, cron: cron ?? usual ?? '0 3 * * *' };
  return kind === 'interval' ? { trigger: kind, everyMs: every ?? USUAL_EVERY_MS } : { trigger: kind };
}

/** The first time of a cron after a moment; undefined for one that never fires. */
export function nextOfCron(cron: string, timeZone: string, after: Date): Date | undefined {
  return new Cron(cron, { paused: true, timezone: timeZone, mode: '5-part' }).nextRun(after) ?? undefined;
}

/** When a task runs next, after a moment at which it ran or was passed over; undefined for never. */
export function nextRunOf({ trigger, cron, everyMs }: Schedule, window: Window, after: Date): Date | undefined {
  if (trigger === 'interval') return new Date(after.getTime() + (everyMs ?? USUAL_EVERY_MS));
  if (trigger === 'cron') return nextOfCron(cron ?? '', window.timeZone, after);
  const opening = openingAt(window, after);
  if (!opening || opening.opensAt > after) return opening?.opensAt;
  return openingAt(window, opening.closesAt)?.opensAt;
}
