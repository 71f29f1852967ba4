// Which finished recordings leave by their days and by the number that their rule keeps. Pure.
const DAY_MS = 86_400_000;

export interface Keepable {
  id: string;
  ruleId: string | null;
  /** Of its rule. */
  keepLast: number | null;
  keepDays: number | null;
  startAt: Date;
  endedAt: Date;
  /** It takes one of the places that keepLast gives: a failed one, or one whose item is gone, does not. */
  counts: boolean;
  /** It is not being watched, and its file may be moved. */
  mayGo: boolean;
}

/** The recordings that are beyond keepDays or keepLast and may go, oldest first. Of a rule, the newest stay. */
export function recordingsToRemove<R extends Keepable>(recordings: readonly R[], now: Date): R[] {
  const newer = new Map<string, number>();
  const going: R[] = [];
  for (const one of [...recordings].sort(newestFirst)) {
    const before = one.ruleId === null ? 0 : (newer.get(one.ruleId) ?? 0);
    if (one.mayGo && (isTooOld(one, now) || isTooMany(one, before))) going.unshift(one);
    else if (one.ruleId !== null && one.counts) newer.set(one.ruleId, before + 1);
  }
  return going;
}

const newestFirst = (a: Keepable, b: Keepable): number =>
  b.startAt.getTime() - a.startAt.getTime() || (a.id < b.id ? 1 : -1);

const isTooOld = ({ keepDays, endedAt }: Keepable, now: Date): boolean =>
  keepDays !== null && endedAt.getTime() + keepDays * DAY_MS <= now.getTime();

const isTooMany = ({ ruleId, keepLast }: Keepable, newer: number): boolean =>
  ruleId !== null && keepLast !== null && newer >= keepLast;
