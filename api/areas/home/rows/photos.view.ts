// Photos of this day in earlier years.
import { dayOf, visibleItems } from '#areas/items/public.ts';
import { baseOf } from '#platform/own-types.ts';
import { onlyShown } from './cards.view.ts';
import type { Found, Reading } from './reader.ts';

/** How far back photos are looked for. */
const YEARS = 80;
const A_YEAR = 30;

/** One short index range a library and year. */
export async function photosOnThisDay(reading: Reading): Promise<Found> {
  const { call, limit, libraries } = reading;
  const { db, who } = call;
  const ids = libraries.filter((library) => baseOf(library) === 'photos').map(({ id }) => id);
  if (ids.length === 0) return { cards: [] };
  const ofDay = visibleItems(db, who)
    .whereNull('i.extra_of')
    .whereRaw('i.library_id = shelf.library_id and i.type = shelf.type')
    .whereRaw("i.taken_at >= years.day and i.taken_at < years.day + interval '1 day'")
    .modify((query) => onlyShown(query, reading))
    .orderBy(['i.taken_at', 'i.id'])
    .limit(A_YEAR)
    .select('i.id', 'i.taken_at');
  const cards: { id: string }[] = await db
    .from(
      db.raw(
        `(select (?::date - make_interval(years => ago))::timestamp at time zone ? as day from generate_series(1, ${YEARS}) as ago) as years`,
        [dayOf(call), who.timeZone ?? 'UTC'],
      ),
    )
    .joinRaw(
      `cross join (select library_id, type from unnest(?::uuid[]) as library_id, unnest(array['photo', 'video']) as type) as shelf`,
      [ids],
    )
    .joinRaw('cross join lateral ? as p', [ofDay] as unknown as string[])
    .orderByRaw('p.taken_at desc, p.id')
    .limit(limit)
    .select('p.id');
  return { cards };
}
