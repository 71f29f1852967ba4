import { withoutFail } from '#platform/redis.ts';
import type { Scan } from './scan.ts';

const EVERY_MS = 1000;
const LIVE_SECONDS = 60;

/** Redis key of the live counts of a running scan. */
export const liveKey = (scanId: string): string => `foyer:scan:${scanId}`;

/** As far as it was listed: more may be found. */
export const unitsOf = ({ counts: { done, total, found } }: Pick<Scan, 'counts'>) => ({
  done,
  total: Math.max(total, found),
  unit: 'files' as const,
});

/** Tells once a second how far the scan is: to Redis for getScan, in the job, and as an event. Losing either loses nothing. */
export function emitProgress(scan: Scan): { stop(): void } {
  let told = '';
  const look = async (): Promise<void> => {
    const live = JSON.stringify({ counts: scan.counts, folders: scan.states });
    if (live === told) return;
    told = live;
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
