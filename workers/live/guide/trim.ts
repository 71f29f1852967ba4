import { deleteOldPrograms, deleteUnlisted, deleteUnusedTitles, findUnlisted } from '#areas/live-tv/public.ts';
import type { Work } from '#workers/work.ts';

/** Job live.trim: deletes programmes of past days and of channels that no guide names, in batches. */
export async function trimGuide(_payload: object, { db, signal }: Work): Promise<object> {
  let programs = 0;
  for (let deleted = -1; deleted !== 0; programs += deleted) {
    signal.throwIfAborted();
    deleted = await deleteOldPrograms(db);
  }
  for (const channel of await findUnlisted(db)) {
    for (let deleted = -1; deleted !== 0; programs += deleted) {
      signal.throwIfAborted();
      deleted = await deleteUnlisted(db, channel);
    }
  }
  if (programs > 0) await deleteUnusedTitles(db);
  return { programs };
}
