import { notify, seers } from '#areas/notifications/public.ts';
import { forgetUncredited, newItemsOf, noteNotified, profilesToNotify } from '#areas/people/public.ts';
import { forgetUnused } from '#areas/studios/public.ts';
import type { Db } from '#platform/db.ts';
import type { Handler } from '../work.ts';

const PROFILES = 100;

/** Job people.tidy: forgets people and studios without items, and notifies profiles of new items of their favourites. */
export const tidyPeople: Handler<'people.tidy'> = async (_payload, work) => {
  const people = await forgetUncredited(work.db);
  const studios = await forgetUnused(work.db);
  let notified = 0;
  let after: string | undefined;
  for (;;) {
    const profiles = await profilesToNotify(work.db, after, PROFILES);
    for (const id of profiles) {
      work.signal.throwIfAborted();
      notified += await work.db.transaction((transaction) => notifyProfile(transaction, id));
    }
    after = profiles.at(-1);
    if (after === undefined) return { people, studios, notified };
  }
};

/** Notifies one profile, once about each favourite with new items. Returns the number of notifications. */
async function notifyProfile(db: Db, profileId: string): Promise<number> {
  const kind = 'person-new-items';
  const [seer] = await seers(db, [profileId], { kind });
  if (!seer) return 0;
  const found = await newItemsOf(db, seer.who);
  for (const news of found) {
    const { personId, itemId, title, count } = news;
    const target = { kind: 'person', id: personId };
    const to = { profileIds: [profileId] };
    await notify(db, { kind, to, target, itemId, count, data: { name: title }, url: `/person/${personId}` });
    await noteNotified(db, profileId, news);
  }
  return found.length;
}
