import { deleteOldPrograms, deleteUnlisted, deleteUnusedTitles, findUnlisted } from '#areas/live-tv/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from '#workers/work.ts';
import { trimRecordings } from './keeping/trim.ts';

/** Job live.trim: the clean-up of the guide, or that of recordings. */
export async function trimLive({ recordings }: JobPayload<'live.trim'>, work: Work): Promise<object> {
  return recordings ? trimRecordings(work, work.signal) : trimGuide(work);
}

/** Deletes programmes of past days and of channels that no guide names, in batches. */
async function trimGuide({ db, signal }: Work): Promise<object> {
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
