// The most played items, shows, artists and people.
import type { Knex } from 'knex';
import { findItemSummaries } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { rowsOf } from '#platform/rows.ts';
import { knownPerson } from '../persons.ts';
import type { Stats, Top } from '../stats.schemas.ts';
import { selectSums, type Wanted } from './groups.ts';

const COUNTS = `sum(s.plays)::int as plays, sum(s.played_ms)::bigint as "playedMs", count(distinct s.account_id)::int as users`;

type Counted = Pick<Top, 'id' | 'plays' | 'playedMs' | 'users'>;
type Narrow = (query: Knex.QueryBuilder) => void;

/** Sums by item and person are computed first, so that items are read once each. */
async function most(
  wanted: Wanted,
  id: string,
  { outer, inner }: { outer?: Narrow; inner?: Narrow },
): Promise<Counted[]> {
  const { call, query, span } = wanted;
  const { db } = call;
  const columns = 's.item_id, a.id as account_id, sum(s.plays) as plays, sum(s.played_ms) as played_ms';
  const sums = selectSums(wanted, span).select(db.raw(columns)).groupByRaw('1, 2');
  inner?.(sums);
  const counted = db
    .queryBuilder()
    .withMaterialized('s', sums)
    .from('s')
    .select(db.raw(`${id} as id, ${COUNTS}`));
  outer?.(counted);
  return counted.groupByRaw('1').orderByRaw('3 desc, 1').limit(query.top);
}

/** Items that are gone or visible: a hidden one is in no list. */
const shown =
  ({ call }: Wanted) =>
  (query: Knex.QueryBuilder): void => {
    query
      .leftJoin('items as i', 'i.id', 's.item_id')
      .where((any) => void any.whereNull('i.id').orWhere((one) => onlyVisibleItems(one, call.who, 'i')));
  };

async function itemsAs(wanted: Wanted, counted: readonly Counted[]): Promise<Top[]> {
  const { db, who } = wanted.call;
  const ids = counted.map(({ id }) => id);
  const summaries = await findItemSummaries(db, who, ids);
  const titles = await rowsOf<{ id: string; title: string }>(
    db,
    `select distinct on (p.item_id) p.item_id as id, p.title from plays p where p.item_id = any(?::uuid[])
      order by p.item_id, p.started_at desc`,
    [ids.filter((id) => !summaries.has(id))],
  );
  const gone = new Map(titles.map(({ id, title }) => [id, title]));
  return counted.map((one) => {
    const item = summaries.get(one.id);
    return { ...one, title: item?.title ?? gone.get(one.id) ?? '', ...(item && { item }) };
  });
}

/** The visible shows of episodes, or the artists of tracks. */
async function parentsOf(wanted: Wanted, type: 'episode' | 'track'): Promise<Top[]> {
  const outer: Narrow = (query) => {
    query
      .join('items as i', 'i.id', 's.item_id')
      .join('items as v', 'v.id', 'i.grandparent_id')
      .where('i.type', type)
      .modify(onlyVisibleItems, wanted.call.who, 'v');
  };
  const counted = await most(wanted, 'i.grandparent_id', { outer });
  return itemsAs(wanted, counted);
}

async function usersOf(wanted: Wanted): Promise<Top[]> {
  const { call, query } = wanted;
  const person = knownPerson(call);
  const inner: Narrow = (sums) => void sums.whereRaw(person.sql, person.bindings as Knex.RawBinding[]);
  const counted = await most(wanted, 's.account_id', { inner });
  const ids = counted.map(({ id }) => id);
  const accounts = await call.db('accounts').whereIn('id', ids).select('id', 'display_name');
  const names = new Map(accounts.map(({ id, display_name: name }) => [id, name]));
  return counted.slice(0, query.top).map((one) => ({ ...one, title: names.get(one.id) ?? '' }));
}

export async function topOf(wanted: Wanted): Promise<NonNullable<Stats['top']> | undefined> {
  if (wanted.query.top === 0) return undefined;
  const items = await itemsAs(wanted, await most(wanted, 's.item_id', { outer: shown(wanted) }));
  const [shows, artists] = [await parentsOf(wanted, 'episode'), await parentsOf(wanted, 'track')];
  return { items, shows, artists, ...(wanted.query.scope === 'server' && { users: await usersOf(wanted) }) };
}
