import { visibleItems } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { onlyVisibleCredited } from '../people.view.ts';

/** Profiles that get notifications about new items of favourites, by id. */
export async function profilesToNotify(db: Db, after: string | undefined, limit: number): Promise<string[]> {
  return db('person_favorites')
    .where('notify', true)
    .modify((query) => {
      if (after !== undefined) query.where('profile_id', '>', after);
    })
    .distinct('profile_id')
    .orderBy('profile_id')
    .limit(limit)
    .pluck('profile_id') as Promise<string[]>;
}

/** New visible items of one favourite. */
export interface NewItems {
  personId: string;
  count: number;
  /** The newest of them. */
  itemId: string;
  title: string;
  /** When the newest credit was written, as Postgres writes it: with microseconds. */
  since: string;
}

/** Hours between two notifications about a person. */
const BETWEEN_HOURS = 20;
/** Days that an agent may take to credit people in a new item. */
const LATE_DAYS = 7;

/**
 * Visible items of the favourites of `who` that were added after the last notification. An item that was
 * in the library before is no news when it is credited later.
 */
export async function newItemsOf(db: Db, who: Principal): Promise<NewItems[]> {
  const rows: { person_id: string; n: number; item_id: string; title: string; since: string }[] = await visibleItems(
    db,
    who,
  )
    .join('credited_items as ci', 'ci.item_id', 'i.id')
    .join('person_favorites as f', 'f.person_id', 'ci.owner_id')
    .where({ 'f.profile_id': who.profileId, 'f.notify': true })
    .whereRaw('ci.since > f.notified_until and i.added_at >= f.created_at')
    .whereRaw('i.added_at > f.notified_until - make_interval(days => ?)', [LATE_DAYS])
    .whereRaw('coalesce(f.notified_at < now() - make_interval(hours => ?), true)', [BETWEEN_HOURS])
    .modify((query) => onlyVisibleCredited(query, { db, who }))
    .groupBy('f.person_id')
    .orderBy('f.person_id')
    .select(
      'f.person_id',
      db.raw(`count(*)::int as n, max(ci.since)::text as since, (array_agg(i.id order by i.added_at desc, i.id))[1] as item_id,
        (array_agg(i.title order by i.added_at desc, i.id))[1] as title`),
    );
  return rows.map(({ person_id, n, item_id, title, since }) => ({
    ...{ personId: person_id, count: n, itemId: item_id, title, since },
  }));
}

/** Notes that the profile was notified of these items. */
export async function noteNotified(db: Db, profileId: string, news: NewItems): Promise<void> {
  await db('person_favorites')
    .where({ profile_id: profileId, person_id: news.personId })
    .update({ notified_until: db.raw('?::timestamptz', [news.since]) as never, notified_at: db.fn.now() });
}
