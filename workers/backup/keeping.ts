import type { BackupRow, Keep } from '#areas/backup/public.ts';

type Judged = Pick<BackupRow, 'id' | 'state' | 'pinned' | 'keep_until' | 'started_at' | 'verification'>;

/** Day, week (by its Monday) and month of a time, in the server's time zone. */
function periodsOf(at: Date, timeZone: string): Record<'daily' | 'weekly' | 'monthly', string> {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone }).format(at);
  const noon = new Date(`${day}T12:00:00Z`);
  const monday = new Date(noon.getTime() - ((noon.getUTCDay() + 6) % 7) * 86_400_000);
  return { daily: day, weekly: monday.toISOString().slice(0, 10), monthly: day.slice(0, 7) };
}

/** Backups kept by the counts: the newest of so many days, weeks and months, and the last ones. */
function counted(good: readonly Judged[], keep: Keep, timeZone: string): Set<string> {
  const ids = new Set(good.slice(0, keep.last).map(({ id }) => id));
  for (const period of ['daily', 'weekly', 'monthly'] as const) {
    const seen = new Set<string>();
    for (const { id, started_at: at } of good) {
      const name = periodsOf(at, timeZone)[period];
      if (seen.has(name)) continue;
      if (seen.size === keep[period]) break;
      seen.add(name);
      ids.add(id);
    }
  }
  return ids;
}

export interface Keeping {
  keep: Keep;
  now: Date;
  timeZone: string;
}

/**
 * Backups at one place to delete: never the newest good one, a pinned one, one with a later `keepUntil`, or the last
 * verified one. A damaged one stays until a newer good one is verified.
 */
export function goingOf<J extends Judged>(backups: readonly J[], { keep, now, timeZone }: Keeping): J[] {
  const ordered = [...backups].sort((a, b) => b.started_at.getTime() - a.started_at.getTime());
  const good = ordered.filter(({ state }) => state === 'completed' || state === 'verified');
  const verified = good.filter(({ state }) => state === 'verified');
  const lastVerified = verified.toSorted((a, b) =>
    (b.verification?.at ?? '').localeCompare(a.verification?.at ?? ''),
  )[0];
  const stays = counted(good, keep, timeZone);
  for (const one of [good[0], lastVerified]) if (one) stays.add(one.id);
  return ordered.filter((one) => {
    if (one.pinned || (one.keep_until && one.keep_until > now)) return false;
    if (one.state === 'damaged') return verified.some(({ started_at: at }) => at > one.started_at);
    return !stays.has(one.id);
  });
}
