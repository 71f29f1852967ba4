// The most played items, shows, artists and people.
import type { Knex } from 'knex';
import { findItemSummaries } from '#areas/items/public.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { rowsOf } from '#platform/rows.ts';
import { knownPerson } from '../persons.ts';
import type { Stats, Top } from '../stats.schemas.ts';
import { selectSums, type Wanted } from './groups.ts';

type Counted = Pick<Top, 'id' | 'plays' | 'playedMs' | 'users'>;

const PLAYED = `sum(s.plays)::int as plays, sum(s.played_ms)::bigint as "playedMs"`;
const USERS = 'count(distinct a.id)::int as users';

/**
 * The most played items that are gone or visible: a hidden one is in no list. Each is looked at when its turn comes
 * (`offset 0`), and the persons of these few alone are counted.
 */
async function mostPlayed(wanted: Wanted): Promise<Counted[]> {
  const { call, query, span } = wanted;
  const { db, who } = call;
  const counted = selectSums(wanted, span)
    .select(db.raw(`s.item_id as id, ${PLAYED}`))
    .groupByRaw('1')
    .orderByRaw('3 desc, 1')
    .offset(db.raw('0') as never);
  const found = db
    .from('items as i')
    .whereRaw('i.id = c.id')
    .select(db.raw('1'))
    .offset(db.raw('0') as never);
  const visible = found.clone().modify(onlyVisibleItems, who, 'i');
  const rows: Counted[] = await db
    .from(counted.as('c'))
    .whereRaw('(not exists (?) or exists (?))', [found, visible] as never)
    .orderByRaw('c."playedMs" desc, c.id')
    .limit(query.top);
  const persons: Pick<Counted, 'id' | 'users'>[] = await selectSums(wanted, span)
    .whereRaw('s.item_id = any(?::uuid[])', [rows.map(({ id }) => id)])
    .select(db.raw(`s.item_id as id, ${USERS}`))
    .groupByRaw('1');
  const users = new Map(persons.map((one) => [one.id, one.users]));
  return rows.map((row) => ({ ...row, users: users.get(row.id) ?? 0 }));
}

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

/** Built-in types whose plays are surely of no such part; types of the server's own may be. */
const OTHERS = { episode: ['movie', 'track'], track: ['movie', 'episode'] } as const;

/** The visible shows of episodes, or the artists of tracks. */
async function parentsOf(wanted: Wanted, type: keyof typeof OTHERS): Promise<Top[]> {
  const { call, query, span } = wanted;
  const { db, who } = call;
  const counted: Counted[] = await selectSums(wanted, span)
    .join('items as i', 'i.id', 's.item_id')
    .join('items as v', 'v.id', 'i.grandparent_id')
    .whereRaw('s.type <> all(?::text[])', [[...OTHERS[type]]])
    .where('i.type', type)
    .modify(onlyVisibleItems, who, 'v')
    .select(db.raw(`i.grandparent_id as id, ${PLAYED}, ${USERS}`))
    .groupByRaw('1')
    .orderByRaw('3 desc, 1')
    .limit(query.top);
  return itemsAs(wanted, counted);
}

async function usersOf(wanted: Wanted): Promise<Top[]> {
  const { call, query, span } = wanted;
  const person = knownPerson(call);
  const counted: Counted[] = await selectSums(wanted, span)
    .whereRaw(person.sql, person.bindings as Knex.RawBinding[])
    .select(call.db.raw(`a.id as id, ${PLAYED}, 1 as users`))
    .groupByRaw('1')
    .orderByRaw('3 desc, 1')
    .limit(query.top);
  const ids = counted.map(({ id }) => id);
  const accounts = await call.db('accounts').whereIn('id', ids).select('id', 'display_name');
  const names = new Map(accounts.map(({ id, display_name: name }) => [id, name]));
  return counted.map((one) => ({ ...one, title: names.get(one.id) ?? '' }));
}

export async function topOf(wanted: Wanted): Promise<NonNullable<Stats['top']> | undefined> {
  if (wanted.query.top === 0) return undefined;
  const [items, shows, artists, users] = await Promise.all([
    mostPlayed(wanted).then((counted) => itemsAs(wanted, counted)),
    parentsOf(wanted, 'episode'),
    parentsOf(wanted, 'track'),
    wanted.query.scope === 'server' ? usersOf(wanted) : undefined,
  ]);
  return { items, shows, artists, ...(users && { users }) };
}
