// The most played films and shows of this server.
import { visibleItems } from '#areas/items/public.ts';
import { keySql, onlyOnHome, onlyShown } from './cards.view.ts';
import type { Found, Reading } from './reader.ts';

const DAYS = 30;
const MOST = 500;
const KEPT_SECONDS = 3600;
const KEY = 'home:top';

/** Films and shows by how many profiles played them in the last 30 days; the order is computed once an hour. */
export async function topHere(reading: Reading): Promise<Found> {
  const { call, limit } = reading;
  const { db, who } = call;
  const ranked = await ranking(reading);
  if (ranked.length === 0) return { cards: [] };
  const cards: { id: string }[] = await visibleItems(db, who)
    .whereRaw('i.id = any(?::uuid[])', [ranked])
    .modify((query) => {
      onlyOnHome(query, reading);
      onlyShown(query, reading);
      if (reading.row.hideWatched) query.whereRaw('not coalesce(s.watched, false)');
    })
    .orderByRaw('array_position(?::uuid[], i.id)', [ranked])
    .limit(limit)
    .select('i.id');
  return { cards };
}

/** Ids of films and shows. At least two profiles must have played one, so that the row shows no one's habits. */
async function ranking({ call }: Reading): Promise<string[]> {
  const { redis } = call.deps;
  const kept = await redis.get(KEY).catch(() => null);
  if (kept !== null) return JSON.parse(kept) as string[];
  const rows = await call.db
    .from('item_states as s')
    .join('items as i', 'i.id', 's.item_id')
    .whereRaw('s.last_played_at > now() - make_interval(days => ?)', [DAYS])
    .whereRaw(`i.type in ('movie', 'episode', 'video')`)
    .groupByRaw(keySql('i'))
    .havingRaw('count(distinct s.profile_id) > 1')
    .orderByRaw(`count(distinct s.profile_id) desc, max(s.last_played_at) desc`)
    .limit(MOST)
    .select<{ key: string }[]>(call.db.raw(`${keySql('i')} as key`));
  const ids = rows.map(({ key }) => key);
  await redis.set(KEY, JSON.stringify(ids), 'EX', KEPT_SECONDS).catch(() => undefined);
  return ids;
}
