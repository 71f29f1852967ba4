import { Cron } from 'croner';
import type { LibrarySettings } from '#areas/libraries/libraries.schemas.ts';
import type { Db } from '#platform/db.ts';

/** A library as the schedule needs it. */
export interface Scheduled {
  id: string;
  settings: LibrarySettings;
  createdAt: Date;
  /** When a scan of the whole library was last requested: by the schedule, and at all. */
  lastScheduled: Date | null;
  lastWhole: Date | null;
  /** None of its folders reports changes by events. */
  polled: boolean;
  /** Watching one of its folders begins now. */
  begins?: boolean;
}

interface Due {
  mode: 'quick' | 'full';
  trigger: 'schedule' | 'watch';
}

const JUST_NOW_MS = 60_000;

/**
 * Changes before now had no events, because no worker ran or the storage was unavailable; a scan that was just
 * requested covers them.
 */
function changedUnobserved({ begins, lastWhole }: Scheduled, now: Date): boolean {
  return begins === true && lastWhole !== null && now.getTime() - lastWhole.getTime() >= JUST_NOW_MS;
}

/** The scan that is due: the nightly full one, or a quick one of folders that are not watched or were not until now. */
export function dueScan(library: Scheduled, now: Date, timeZone: string): Due | undefined {
  const since = library.lastScheduled ?? library.createdAt;
  const next = nextRun(library.settings.scanCron, { since, timeZone });
  if (next && next <= now) return { mode: 'full', trigger: 'schedule' };
  const last = library.lastWhole ?? library.createdAt;
  const poll =
    library.polled &&
    library.settings.watch !== 'off' &&
    now.getTime() - last.getTime() >= library.settings.pollMinutes * 60_000;
  return poll || changedUnobserved(library, now) ? { mode: 'quick', trigger: 'watch' } : undefined;
}

/** The first time after `since`; undefined for an invalid cron expression. */
function nextRun(pattern: string, { since, timeZone }: { since: Date; timeZone: string }): Date | undefined {
  try {
    return new Cron(pattern, { paused: true, timezone: timeZone, mode: '5-part' }).nextRun(since) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Times of the last requests of whole scans, by library. */
export async function findLastScans(db: Db): Promise<Map<string, { scheduled: Date | null; whole: Date | null }>> {
  const rows = await db('scans')
    .whereNull('targets')
    .groupBy('library_id')
    .select<{ library_id: string; scheduled: Date | null; whole: Date | null }[]>(
      'library_id',
      db.raw(`max(queued_at) filter (where trigger = 'schedule') as scheduled`),
      db.raw('max(queued_at) as whole'),
    );
  return new Map(rows.map((row) => [row.library_id, row]));
}
