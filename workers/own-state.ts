// Changes the own state of more items than a request may change: watched marks, positions and favourites of one profile.
import { z } from 'zod';
import { leavesOf } from '#areas/playback/progress/progress.store.ts';
import { selectedIds, setOwnState, whatOf } from '#areas/playback/progress/select.ts';
import { principalOfProfile } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from './work.ts';

const BATCH = 2000;

type Payload = JobPayload<'playback.mark'>;
const Checkpoint = z.object({ after: z.uuid().optional(), done: z.int().default(0) });

/** Resumes from its checkpoint. Items that the profile may not see keep their state. */
export async function markMany(payload: Payload, work: Work): Promise<void> {
  const { db, signal } = work;
  const who = await principalOfProfile(db, payload.profileId);
  if (!who) return; // the profile was removed
  const set = payload.set ?? { watched: payload.watched === true };
  let { after, done } = Checkpoint.safeParse(work.checkpoint).data ?? { after: undefined, done: 0 };
  for (;;) {
    signal.throwIfAborted();
    const ids = await nextIds(work, { who, payload, after });
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    done += ids.length;
    await db.transaction(async (inside) => {
      await setOwnState({ db: inside, who }, ids, {
        set,
        at: new Date(payload.at),
        countPlay: payload.countPlay === true,
      });
      await work.keep(inside, { after, done }, { done, unit: 'items' });
    });
  }
  const itemIds = payload.itemId === undefined ? [] : [payload.itemId];
  await work.emit(db, 'state.changed', {
    payload: { profileId: payload.profileId, what: whatOf(set), itemIds, truncated: true },
  });
}

interface Next {
  who: Principal;
  payload: Payload;
  after: string | undefined;
}

/** The next ids: of a selection, or of the playable items in a container. */
async function nextIds(work: Work, { who, payload: { itemId, select }, after }: Next): Promise<string[]> {
  if (select) return selectedIds({ db: work.db, who, now: new Date(), deps: work }, select, { most: BATCH, after });
  return itemId === undefined ? [] : leavesOf(work.db, who, { itemId, most: BATCH - 1, after });
}
