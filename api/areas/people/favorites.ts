import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';

const MOST = 2000;

interface Favorite {
  favorite: boolean;
  notify: boolean;
}

/** Marks a person for the calling profile. Throws 409 `too-many-favorites`. */
export async function setFavorite({ db, who }: Call, personId: string, wanted: Favorite): Promise<Favorite> {
  const own = { profile_id: who.profileId, person_id: personId };
  if (!wanted.favorite) {
    await db('person_favorites').where(own).delete();
    return { favorite: false, notify: false };
  }
  await db('profiles').where({ id: who.profileId }).forUpdate().select('id'); // two requests cannot pass the limit together
  const known = await db('person_favorites').where(own).first('notify');
  if (!known) await refuseFull(db, who.profileId);
  await db('person_favorites')
    .insert({ ...own, notify: wanted.notify })
    .onConflict(['profile_id', 'person_id'])
    .merge({
      notify: wanted.notify,
      // items that were added while notifications were off are not new
      ...(wanted.notify && !known?.notify && { notified_until: db.fn.now() as never }),
    });
  return wanted;
}

async function refuseFull(db: Call['db'], profileId: string): Promise<void> {
  const [row] = await db('person_favorites').where({ profile_id: profileId }).count<{ count: number }[]>('* as count');
  if (Number(row?.count ?? 0) < MOST) return;
  throw conflict('too-many-favorites', `A profile has at most ${MOST} favourite people`);
}
