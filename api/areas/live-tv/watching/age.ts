import type { Principal } from '#identity/principal.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { type LiveSegment, segmentEnd } from '#platform/live/segments.ts';
import { programmesOf } from './programmes.ts';

const seesAll = ({ sees }: Principal): boolean => sees.ageLimit === undefined && !sees.hideUnrated;

/** Throws 403 while a programme above the caller's age limit is on air. */
export async function refuseAge(db: Db, who: Principal, channelId: string): Promise<void> {
  if (seesAll(who)) return;
  const now = new Date();
  const [onAir] = await programmesOf(db, who, { channelId, from: now, to: now });
  if (onAir?.isRestricted) {
    throw new ApiError('FORBIDDEN', 'The programme is above the age limit', { by: 'age' });
  }
}

/** The segments without those of programmes above the caller's age limit. */
export async function withinAge(
  db: Db,
  who: Principal,
  { channelId, segments }: { channelId: string; segments: readonly LiveSegment[] },
): Promise<LiveSegment[]> {
  const [first, last] = [segments[0], segments.at(-1)];
  if (seesAll(who) || !first || !last) return [...segments];
  const between = { from: new Date(first.startMs), to: new Date(segmentEnd(last)) };
  const closed = (await programmesOf(db, who, { channelId, ...between }))
    .filter((one) => one.isRestricted)
    .map((one) => ({ from: Date.parse(one.startAt), to: Date.parse(one.endAt) }));
  return segments.filter((one) => !closed.some(({ from, to }) => one.startMs < to && segmentEnd(one) > from));
}
