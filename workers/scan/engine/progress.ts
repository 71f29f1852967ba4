import { withoutFail } from '#platform/redis.ts';
import type { Scan } from './scan.ts';

const EVERY_MS = 1000;
const LIVE_SECONDS = 60;

/** Redis key of the live counts of a running scan. */
export const liveKey = (scanId: string): string => `foyer:scan:${scanId}`;

/** Counts of the files listed so far; more may be found. */
export const unitsOf = ({ counts: { done, total, found } }: Pick<Scan, 'counts'>) => ({
  done,
  total: Math.max(total, found),
  unit: 'files' as const,
});

/**
 * Reports the progress once a second: to Redis for getScan, in the job, and as an event. Losing a report does no harm.
 */
export function emitProgress(scan: Scan): { stop(): void } {
  let reported = '';
  const look = async (): Promise<void> => {
    const live = JSON.stringify({ counts: scan.counts, folders: scan.states });
    if (live === reported) return;
    reported = live;
    const { redis, db, emit, report } = scan.work;
    await withoutFail(() => redis.set(liveKey(scan.row.id), live, 'EX', LIVE_SECONDS), null);
    const { found, done } = scan.counts;
    const units = unitsOf(scan);
    await report(db, units);
    const payload = { libraryId: scan.library.id, scanId: scan.row.id, found, done, total: units.total };
    await emit(db, 'library.scan.progress', { payload, facts: { libraryId: scan.library.id } });
  };
  const timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
