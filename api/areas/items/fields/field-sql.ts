import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels, onlyVisibleItems } from '#identity/visibility.ts';
import {
  calendarDay,
  flag,
  folded,
  idOrName,
  moment,
  related,
  type SqlField,
  scalar,
  type Where,
} from '#kernel/filter-sql.ts';
import { containersSql } from '../kinds.ts';

/** SQL of the filter fields over `items as i`, the caller's state `s` joined. */

/** What a condition may depend on beside its values. */
export interface Asking {
  who: Principal;
  now: Date;
  /** The server's time zone. */
  zone: string;
}
export type ItemWhere = Where<Asking>;

/** One filter field of items as the table in fields.ts declares it. */
export interface ItemField extends SqlField<Asking> {
  label: string;
  /** Item types that have it; absent is all. */
  types?: readonly string[];
  /** Sorted by under this name. */
  sort?: string;
  indexed?: true;
  facet?: true;
  /** The caller's own state. */
  mine?: true;
  /** Only for those who may edit. */
  editors?: true;
}

type Query = Knex.QueryBuilder;

/** `details ->> 'camera'`, of a fixed name of ours. */
export const detail = (...path: string[]): string => `(i.details #>> '{${path.join()}}')`;

/** A number inside details; null where it is none. */
export const detailNumber = (...path: string[]): string =>
  `(case when jsonb_typeof(i.details #> '{${path.join()}}') = 'number' then ${detail(...path)}::double precision end)`;

export const foldedDetail = (...path: string[]): ItemWhere => folded(`foyer_fold(${detail(...path)})`);

/** Tags of one kind, by id or by name without case and accents. */
export function tagged(kind: string): ItemWhere {
  const rows = (query: Query): void => {
    query.from('item_tags as t').whereRaw(`t.item_id = i.id and t.library_id = i.library_id and t.kind = '${kind}'`);
  };
  return related(rows, idOrName({ id: 't.tag_id', name: 't.name_folded' }));
}

/** Labels, own and inherited, by id or by name; those that the caller may not know match nothing. */
export const labelled: ItemWhere = (query, condition, asking) => {
  const { op, values } = condition;
  const numbers = query.client.queryBuilder().from('labels as l').select('l.number') as Query;
  onlyKnownLabels(numbers, asking.who, 'l');
  if (op !== 'exists') {
    const positive = op === 'ne' ? 'eq' : op === 'nin' ? 'in' : op;
    numbers.where((all: Query) => named(all, { ...condition, op: positive }, asking));
  }
  const absent = op === 'ne' || op === 'nin' || (op === 'exists' && values[0] === 'false');
  query.whereRaw(absent ? 'not i.labels && array(?)' : `i.labels <> '{}' and i.labels && array(?)`, [
    numbers,
  ] as unknown as string[]);
};
const named = idOrName<Asking>({ id: 'l.id', name: 'l.name_folded' });

export const credited: ItemWhere = related(
  (query) => query.from('credits as c').join('people as who', 'who.id', 'c.person_id').whereRaw('c.item_id = i.id'),
  idOrName({ id: 'who.id', name: 'who.name_folded' }),
);

/** A file of the item; `match` speaks of `f`. */
export const onFile = (match: ItemWhere): ItemWhere =>
  related((query) => query.from('media_files as f').whereRaw('f.item_id = i.id and not f.ignored'), match);

/** A stream of one kind in one of the item's files; `match` speaks of `st`. */
export const onStream = (kind: 'video' | 'audio' | 'subtitle', match: ItemWhere): ItemWhere =>
  related(
    (query) =>
      query
        .from('media_files as f')
        .join('media_streams as st', 'st.file_id', 'f.id')
        .whereRaw(`f.item_id = i.id and not f.ignored and st.kind = '${kind}'`),
    match,
  );

/** A parent or grandparent of one type, by id or title; where scans know only a name, that of the item's own list. */
export function above(type: string, list: string): ItemWhere {
  const parents = related<Asking>(
    (query) => query.from('items as a').whereRaw(`a.id in (i.parent_id, i.grandparent_id) and a.type = '${type}'`),
    idOrName({ id: 'a.id', name: 'foyer_fold(a.title)' }),
  );
  const listed = inList(list);
  return (query, condition, asking) => {
    const absent = condition.op === 'ne' || condition.op === 'nin' || condition.values[0] === 'false';
    query.where((inner: Query) => parents(inner, condition, asking));
    const also = (inner: Query): void => listed(inner, condition, asking);
    if (absent) query.where(also);
    else query.orWhere(also);
  };
}

/** A list of `{name}` inside details. */
export const inList = (list: string): ItemWhere =>
  related(
    (query) =>
      query.joinRaw(
        `from jsonb_array_elements(case when jsonb_typeof(i.details -> '${list}') = 'array' then i.details -> '${list}' else '[]' end) as e`,
      ),
    folded(`foyer_fold(e ->> 'name')`),
  );

/** Ids of items: hidden or unknown ones match nothing. */
export const itemId =
  (sql: string): ItemWhere =>
  (query, condition, asking) => {
    if (condition.op === 'exists') {
      scalar<Asking>(sql, 'uuid')(query, condition, asking);
      return;
    }
    scalar<Asking>(`${sql}::text`, 'text')(
      query,
      { ...condition, values: condition.values.map((value) => value.toLowerCase()) },
      asking,
    );
  };

/** When a photo was taken by its own clock (details.takenOffsetMinutes), else by the zone given. */
export const takenLocally = (
  zone: string,
): string => `case when jsonb_typeof(i.details -> 'takenOffsetMinutes') = 'number'
  then (i.taken_at at time zone 'UTC') + make_interval(mins => (i.details ->> 'takenOffsetMinutes')::numeric::int)
  else i.taken_at at time zone ${zone} end`;

/** A photo that does not say its offset has the day of the server's zone, as in the timeline. */
export const takenDay: ItemWhere = scalar(`to_char(${takenLocally('?')}, 'MM-DD')`, 'text', ({ zone }) => [zone]);

/** Anything above the item. */
export const ancestor: ItemWhere = related(
  (query) =>
    query
      .from(query.client.raw('unnest(array[i.parent_id, i.grandparent_id]) as up(id)'))
      .whereRaw('up.id is not null'),
  (query, condition) => {
    query.whereRaw('up.id::text = any(?::text[])', [condition.values.map((value) => value.toLowerCase())]);
  },
);

/** `imdb:tt0111161`, by the index of external ids. */
export const externalId: ItemWhere = (query, { op, values }) => {
  if (op === 'exists') {
    query.whereRaw(`(i.external_ids <> '{}') = ?`, [values[0] === 'true']);
    return;
  }
  const either = (inner: Query): void => {
    for (const value of values) {
      const [provider = '', ...rest] = value.split(':');
      inner.orWhereRaw('i.external_ids @> ?::jsonb', [JSON.stringify({ [provider]: rest.join(':') })]);
    }
  };
  if (op === 'ne' || op === 'nin') query.whereNot(either);
  else query.where(either);
};

/** What lies in a container and is played, of what the caller sees, that `which` is true of. */
function leaves(query: Query, who: Principal, which: string): Query {
  const inside = query.client.queryBuilder().from('items as k') as Query;
  return inside
    .select(query.client.raw('1'))
    .joinRaw('left join item_states ks on ks.item_id = k.id and ks.profile_id = ?::uuid', [
      (who.profileId || null) as unknown as string,
    ])
    .whereRaw(`k.extra_of is null and k.type <> all(${containersSql}) and ${which}`)
    .whereRaw('(k.parent_id = i.id or k.grandparent_id = i.id)')
    .modify(onlyVisibleItems, who, 'k');
}

const ANY = 'true';
const LEFT = 'not coalesce(ks.watched, false)';
const BEGUN = '(ks.watched or ks.position_ms > 0)';

interface OfState {
  leaf: string;
  /** With one `?` for each of `leaves`. */
  container: string;
  leaves: readonly string[];
}

/** A condition on the caller's state of the item itself, or of what lies in a container. */
function stateOf({ leaf, container, leaves: kinds }: OfState): Where<Pick<Asking, 'who'>> {
  const compiled = `(case when i.type = any(${containersSql}) then ${container} else ${leaf} end)`;
  return (query, condition, { who }) => {
    const wanted = (condition.values[0] === 'true') === (condition.op === 'eq');
    const inside = kinds.map((which) => leaves(query, who, which));
    query.whereRaw(wanted ? compiled : `not ${compiled}`, inside as unknown as string[]);
  };
}

export const watched = stateOf({
  leaf: 'coalesce(s.watched, false)',
  container: '(not exists ? and exists ?)',
  leaves: [LEFT, ANY],
});
export const unwatched = stateOf({ leaf: `not coalesce(s.watched, false)`, container: 'exists ?', leaves: [LEFT] });
export const inProgress = stateOf({
  leaf: '(not coalesce(s.watched, false) and coalesce(s.position_ms, 0) > 0)',
  container: '(exists ? and exists ?)',
  leaves: [LEFT, BEGUN],
});

/** A photo's place is told by libraries that share it, or to editors: elsewhere such a condition matches nothing. */
export const shared =
  (where: ItemWhere): ItemWhere =>
  (query, condition, asking) => {
    where(query, condition, asking);
    if (asking.who.permissions.has('item:edit')) return;
    query.whereRaw(`exists (select 1 from libraries sharing where sharing.id = i.library_id
      and coalesce(sharing.settings ->> 'shareLocation', 'true') <> 'false')`);
  };

/** Areas that are not there yet keep nothing: such a field matches no item. */
export const never: ItemWhere = (query, { op, values }) => {
  const absent = op === 'ne' || op === 'nin' || values[0] === 'false';
  query.whereRaw(absent ? 'true' : 'false');
};

export { calendarDay, flag, folded, moment, scalar };
