// Sums of plays in groups.
import type { Knex } from 'knex';
import { onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { knownPerson } from '../persons.ts';
import type { Span } from '../span.ts';
import type { Grouping, StatFigures, StatGroup, Stats, StatsQuery, timeGroups } from '../stats.schemas.ts';
import { isTime, type Time, timeKey } from './times.ts';

const MOST_GROUPS = 1100;
/** Key of plays whose person, library or item the caller may not know. */
const OTHERS = 'others';

export interface Wanted {
  call: Call;
  query: StatsQuery;
  span: Span;
  /** Every time of the span by which it is grouped; none for other groups. */
  times: readonly Time[];
}

type Range = Pick<Span, 'start' | 'end'>;

/** Sums of the requested span; `pr` and `a` are their person. */
export function selectSums({ call, query }: Wanted, { start, end }: Range): Knex.QueryBuilder {
  const { db, who } = call;
  const sums = db
    .queryBuilder()
    .from('play_sums as s')
    .leftJoin('profiles as pr', 'pr.id', 's.profile_id')
    .leftJoin('accounts as a', 'a.id', 'pr.account_id')
    .where('s.at', '>=', start)
    .where('s.at', '<', end);
  if (query.scope === 'mine' && query.userId === undefined) sums.where('s.profile_id', who.profileId);
  if (query.userId !== undefined) {
    const known = knownPerson(call);
    sums.where('a.id', query.userId).whereRaw(known.sql, known.bindings as Knex.RawBinding[]);
  }
  if (query.libraryId) sums.where('s.library_id', query.libraryId);
  if (query.type) sums.where('s.type', query.type);
  return sums;
}

/** Figures that add up, of each profile of a key. */
const ADDED = `sum(s.plays) as plays, sum(s.played_ms) as played_ms, sum(s.completed) as completed,
  sum(s.plays) filter (where s.is_remote) as remote, sum(s.plays) filter (where s.method = 'transcode') as transcoded, sum(s.bytes) as bytes`;
const FIGURES = `coalesce(sum(o.plays), 0)::int as plays, coalesce(sum(o.played_ms), 0)::bigint as "playedMs",
  coalesce(sum(o.completed), 0)::int as completed, count(distinct p.account_id)::int as users,
  coalesce(sum(o.remote), 0)::int as "remotePlays", coalesce(sum(o.transcoded), 0)::int as "transcodedPlays",
  coalesce(sum(o.bytes), 0)::bigint as bytes`;

/**
 * Figures by key, and those of all keys as one row that is `whole`. Items are counted in a second reading that has nothing but ids:
 * in one with the figures, Postgres would sort all sums of the span with all their columns. Persons are few, and are counted by the
 * figures of each profile. A third reading for the whole row alone would cost as much as the first.
 */
function figuresBy({ call: { db } }: Wanted, sums: Knex.QueryBuilder, of: Key): Knex.QueryBuilder {
  const { sql, text = (column: string) => column } = of;
  const key = of.bindings as Knex.RawBinding[];
  const added = sums
    .clone()
    .select(db.raw(`${sql} as key, s.profile_id, ${ADDED}`, key))
    .groupByRaw('1, 2');
  const held = sums.select(db.raw(`${sql} as key, s.item_id`, key)).groupByRaw('1, 2');
  const figures = db
    .from(added.as('o'))
    .leftJoin('profiles as p', 'p.id', 'o.profile_id')
    .select(db.raw(`o.key, grouping(o.key) = 1 as whole, ${FIGURES}`))
    .groupByRaw('grouping sets ((o.key), ())');
  const items = db.from('h').select(db.raw('h.key, count(*)::int as items')).groupByRaw('1');
  const allItems = db.from(db.from('h').select('h.item_id').groupByRaw('1').as('a')).select(db.raw('count(*)::int'));
  return db
    .withMaterialized('h', held)
    .from(figures.as('f'))
    .leftJoin(items.as('n'), (on) => void on.on('n.key', 'f.key').andOnVal('f.whole', false))
    .whereRaw('(f.whole or n.key is not null)')
    .select('f.*', db.raw('case when f.whole then (?) else n.items end as items', [allItems]))
    .select(db.raw(`${text('f.key')} as key`));
}

export async function totalsOf(wanted: Wanted, range: Range = wanted.span): Promise<StatFigures> {
  const query = figuresBy(wanted, selectSums(wanted, range), { sql: `'all'`, bindings: [] });
  return wholeOf((await query) as Found[]);
}

const wholeOf = (rows: readonly Found[]): StatFigures => figuresOf(rows.find(({ whole }) => whole) ?? NOTHING);

interface Key {
  sql: string;
  bindings: unknown[];
  /** The key as text from its value in a column. A time is written out once a group, as that costs more than to add up a sum. */
  text?: (column: string) => string;
  /** Joins that the key needs. */
  join?: (query: Knex.QueryBuilder) => void;
  /** The join takes a play several times. */
  isShared?: boolean;
}

const withItem = (query: Knex.QueryBuilder): void => void query.leftJoin('items as i', 'i.id', 's.item_id');

/** The key of a group; `split` takes the same words. */
function keyOf({ call, span, times }: Wanted, grouping: Grouping): Key {
  if (isTime(grouping)) return timeKey(grouping, times, span.timeZone);
  const known = knownPerson(call);
  const person = (column: string): Key => ({
    sql: `case when ${known.sql} then ${column}::text else '${OTHERS}' end`,
    bindings: known.bindings,
  });
  const keys: Record<Exclude<Grouping, (typeof timeGroups)[number]>, Key> = {
    user: person('a.id'),
    profile: person('pr.id'),
    library: { sql: 's.library_id::text', bindings: [] },
    type: { sql: 's.type', bindings: [] },
    client: { sql: 's.client', bindings: [] },
    method: { sql: 's.method', bindings: [] },
    genre: {
      isShared: true,
      sql: `coalesce(g.name, '${OTHERS}')`,
      bindings: [],
      join: (query) =>
        void query.leftJoin('item_tags as g', (on) => void on.on('g.item_id', 's.item_id').andOnVal('g.kind', 'genre')),
    },
    show: { sql: `case when i.type = 'episode' then i.grandparent_id::text end`, bindings: [], join: withItem },
    artist: { sql: `case when i.type = 'track' then i.grandparent_id::text end`, bindings: [], join: withItem },
  };
  return keys[grouping];
}

type Found = StatFigures & { key: string; whole: boolean };

async function groupsIn(wanted: Wanted): Promise<{ totals: StatFigures; found: Found[] }> {
  const key = keyOf(wanted, wanted.query.groupBy);
  const sums = selectSums(wanted, wanted.span);
  key.join?.(sums);
  const rows: Found[] = await figuresBy(wanted, sums, key).orderByRaw('f."playedMs" desc, f.key');
  const totals = key.isShared ? await totalsOf(wanted) : wholeOf(rows);
  return { totals, found: rows.filter(({ whole }) => !whole) };
}

async function splitsIn(wanted: Wanted): Promise<Map<string, { key: string; plays: number; playedMs: number }[]>> {
  const { call, query, span } = wanted;
  if (!query.split) return new Map();
  const [by, split] = [keyOf(wanted, query.groupBy), keyOf(wanted, query.split)];
  const group = by.text?.(by.sql) ?? by.sql;
  const sums = selectSums(wanted, span).select(
    call.db.raw(
      `${group} as "of", ${split.sql} as key, sum(s.plays)::int as plays, sum(s.played_ms)::bigint as "playedMs"`,
      [...by.bindings, ...split.bindings] as Knex.RawBinding[],
    ),
  );
  by.join?.(sums);
  const rows = (await sums.groupByRaw('1, 2').orderByRaw('4 desc, 2')) as {
    of: string;
    key: string;
    plays: number;
    playedMs: number;
  }[];
  return Map.groupBy(rows, ({ of }) => of);
}

const NOTHING: StatFigures = {
  ...{ plays: 0, playedMs: 0, completed: 0, items: 0, users: 0 },
  ...{ remotePlays: 0, transcodedPlays: 0, bytes: 0 },
};

/** Labels of keys; a key without a label is one that the caller may not know. */
async function labelsOf({ call }: Wanted, grouping: Grouping, keys: readonly string[]): Promise<Map<string, string>> {
  const { db, who } = call;
  const ids = keys.filter((key) => key.length === 36);
  const named = (rows: { id: string; name: string }[]): Map<string, string> =>
    new Map(rows.map(({ id, name }) => [id, name]));
  if (grouping === 'user')
    return named((await db('accounts').whereIn('id', ids).select('id', db.raw('display_name as name'))) as never);
  if (grouping === 'profile') return named(await db('profiles').whereIn('id', ids).select('id', 'name'));
  if (grouping === 'library')
    return named(
      await db('libraries')
        .modify(onlyVisibleLibraries, who)
        .whereIn('libraries.id', ids)
        .select('libraries.id', 'libraries.name'),
    );
  if (grouping === 'show' || grouping === 'artist')
    return named(
      (await db('items as i')
        .modify(onlyVisibleItems, who, 'i')
        .whereIn('i.id', ids)
        .select('i.id', db.raw('i.title as name'))) as never,
    );
  return new Map(keys.map((key) => [key, key]));
}

/** Groups of which the caller may not know the name are one group together. */
function known<T extends { key: string }>(
  rows: readonly T[],
  labels: ReadonlyMap<string, string>,
): (T & { label: string })[] {
  return rows.map((row) => {
    const label = labels.get(row.key);
    return label === undefined ? { ...row, key: OTHERS, label: '' } : { ...row, label };
  });
}

function added(one: StatFigures, other: StatFigures): StatFigures {
  const names = Object.keys(NOTHING) as (keyof StatFigures)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as StatFigures;
}

const figuresOf = ({
  plays,
  playedMs,
  completed,
  items,
  users,
  remotePlays,
  transcodedPlays,
  bytes,
}: StatFigures): StatFigures => ({
  ...{ plays, playedMs, completed, items, users, remotePlays, transcodedPlays, bytes },
});

type Split = { key: string; plays: number; playedMs: number };

interface Named {
  rows: readonly Found[];
  labels: ReadonlyMap<string, string>;
  splitsOf: (key: string) => StatGroup['split'];
}

/** Rows as groups; those beyond the limit, and those without a name, are one group together. */
function merge({ rows, labels, splitsOf }: Named): StatGroup[] {
  const groups = new Map<string, StatGroup>();
  for (const [place, row] of known(rows, labels).entries()) {
    const isRest = groups.size >= MOST_GROUPS && !groups.has(row.key);
    const key = isRest ? 'other' : row.key;
    const before = groups.get(key);
    const figures = before ? added(before.figures, row) : figuresOf(row);
    const split = splitsOf(rows[place]?.key ?? '');
    groups.set(key, { key, label: isRest ? '' : row.label, figures, ...(split && { split }) });
  }
  return [...groups.values()];
}

async function splitting(wanted: Wanted): Promise<Named['splitsOf']> {
  const { split } = wanted.query;
  if (!split) return () => undefined;
  const splits = await splitsIn(wanted);
  const keys = [...splits.values()].flat().map(({ key }) => key);
  const labels = await labelsOf(wanted, split, [...new Set(keys)]);
  const bare = ({ key, label, plays, playedMs }: Split & { label: string }) => ({ key, label, plays, playedMs });
  return (of) => known<Split>(splits.get(of) ?? [], labels).map(bare);
}

/** Groups and totals of a request: times in order with zeros, others by the time played, at most 1,100 and the rest as one. */
export async function groupsOf(wanted: Wanted): Promise<Pick<Stats, 'totals' | 'groups'>> {
  const { groupBy } = wanted.query;
  const { totals, found } = await groupsIn(wanted);
  const there = new Map(found.map((row) => [row.key, row]));
  const rows = isTime(groupBy)
    ? wanted.times.map(({ key }) => there.get(key) ?? { ...NOTHING, key, whole: false })
    : found;
  const keys = rows.map(({ key }) => key);
  const labels = await labelsOf(wanted, groupBy, keys);
  return { totals, groups: merge({ rows, labels, splitsOf: await splitting(wanted) }) };
}
