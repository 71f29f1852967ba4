import type { LiveProgram } from '#areas/viewing/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { findInWindow, findShown } from '../guide/programs.store.ts';
import { isRestricted, toProgram } from '../guide/programs.view.ts';

export interface Programme extends LiveProgram {
  /** Above the age limit of the caller, who may not watch it. */
  isRestricted: boolean;
}

/** The programmes of a channel that reach into a time, in order; none without a guide. */
export async function programmesOf(
  db: Db,
  who: Principal,
  { channelId, from, to }: { channelId: string; from: Date; to: Date },
): Promise<Programme[]> {
  const shown = await findShown(db, who, { channelIds: [channelId] });
  const until = to > from ? to : new Date(from.getTime() + 1);
  const rows = await findInWindow(db, who, { keys: shown.map(({ key }) => key), from, to: until });
  return rows.map((row) => ({ ...toProgram(who, row, channelId), isRestricted: isRestricted(who, row) }));
}
