// What was played most.
import type { Knex } from 'knex';
import { findItemSummaries } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { rowsOf } from '#platform/rows.ts';
import { knownPerson } from '../persons.ts';
import type { Stats, Top } from '../stats.schemas.ts';
import { type Asked, selectSums } from './groups.ts';

const COUNTS = `sum(s.plays)::int as plays, sum(s.played_ms)::bigint as "playedMs", count(distinct a.id)::int as users`;

type Counted = Pick<Top, 'id' | 'plays' | 'playedMs' | 'users'>;

async function most(asked: Asked, id: string, narrow: (query: Knex.QueryBuilder) => void): Promise<Counted[]> {
  const { call, query, span } = asked;
  const sums = selectSums(asked, span).select(call.db.raw(`${id} as id, ${COUNTS}`));
  narrow(sums);
  return sums.groupByRaw('1').orderByRaw('3 desc, 1').limit(query.top);
}

/** Items that are gone or visible: a hidden one is in nobody's list. */
const shown =
  ({ call }: Asked) =>
  (query: Knex.QueryBuilder): void => {
    query.leftJoin('items as i', 'i.id', 's.item_id').where((any) => {
      any
        .whereNull('i.id')
        .orWhereExists(
          (seen) => void seen.from('items as v').whereRaw('v.id = i.id').modify(onlyVisibleItems, call.who, 'v'),
        );
    });
  };

async function itemsAs(asked: Asked, counted: readonly Counted[]): Promise<Top[]> {
  const { db, who } = asked.call;
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
async function parentsOf(asked: Asked, type: 'episode' | 'track'): Promise<Top[]> {
  const counted = await most(asked, 'i.grandparent_id', (query) => {
    query
      .join('items as i', 'i.id', 's.item_id')
      .where('i.type', type)
      .whereExists(
        (seen) =>
          void seen
            .from('items as v')
            .whereRaw('v.id = i.grandparent_id')
            .modify(onlyVisibleItems, asked.call.who, 'v'),
      );
  });
  return itemsAs(asked, counted);
}

async function usersOf(asked: Asked): Promise<Top[]> {
  const { call, query } = asked;
  const person = knownPerson(call);
  const counted = await most(
    asked,
    'a.id',
    (sums) => void sums.whereRaw(person.sql, person.bindings as Knex.RawBinding[]),
  );
  const ids = counted.map(({ id }) => id);
  const accounts = await call.db('accounts').whereIn('id', ids).select('id', 'display_name');
  const names = new Map(accounts.map(({ id, display_name: name }) => [id, name]));
  return counted.slice(0, query.top).map((one) => ({ ...one, title: names.get(one.id) ?? '' }));
}

export async function topOf(asked: Asked): Promise<NonNullable<Stats['top']> | undefined> {
  if (asked.query.top === 0) return undefined;
  const items = await itemsAs(asked, await most(asked, 's.item_id', shown(asked)));
  const [shows, artists] = [await parentsOf(asked, 'episode'), await parentsOf(asked, 'track')];
  return { items, shows, artists, ...(asked.query.scope === 'server' && { users: await usersOf(asked) }) };
}
