import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels, onlyVisibleItems } from '#identity/visibility.ts';
import {
  calendarDay,
  flag,
  folded,
  idOrName,
  matchesAbsence,
  moment,
  positive,
  related,
  type SqlField,
  scalar,
  type Where,
} from '#kernel/filter-sql.ts';
import { containersSql } from '../kinds.ts';

/** Context of a condition. */
export interface FilterContext {
  who: Principal;
  now: Date;
  /** The server's time zone. */
  zone: string;
}
export type ItemWhere = Where<FilterContext>;

/** A filter field of items. */
export interface ItemField extends SqlField<FilterContext> {
  label: string;
  /** Item types that have the field; absent is all. */
  types?: readonly string[];
  /** Name of the sort by this field. */
  sort?: string;
  indexed?: true;
  facet?: true;
  /** Reads the caller's own state. */
  mine?: true;
  /** Needs item:edit. */
  editors?: true;
}

type Query = Knex.QueryBuilder;

/** `details ->> 'camera'`. The path must be constant. */
export const detail = (...path: string[]): string => `(i.details #>> '{${path.join()}}')`;

/** A number inside details; null for other values. */
export const detailNumber = (...path: string[]): string =>
  `(case when jsonb_typeof(i.details #> '{${path.join()}}') = 'number' then ${detail(...path)}::double precision end)`;

export const foldedDetail = (...path: string[]): ItemWhere => folded(`foyer_fold(${detail(...path)})`);

/** Tags of one kind, by id or by folded name. */
export function tagged(kind: string): ItemWhere {
  const rows = (query: Query): void => {
    query.from('item_tags as t').whereRaw(`t.item_id = i.id and t.library_id = i.library_id and t.kind = '${kind}'`);
  };
  return related(rows, idOrName({ id: 't.tag_id', name: 't.name_folded' }));
}

/** Own and inherited labels, by id or name. Labels hidden from the caller match nothing. */
export const labelled: ItemWhere = (query, condition, context) => {
  const numbers = query.client.queryBuilder().from('labels as l').select('l.number') as Query;
  onlyKnownLabels(numbers, context.who, 'l');
  if (condition.op !== 'exists') numbers.where((all: Query) => named(all, positive(condition), context));
  const sql = matchesAbsence(condition) ? 'not i.labels && array(?)' : `i.labels <> '{}' and i.labels && array(?)`;
  query.whereRaw(sql, [numbers] as unknown as string[]);
};
const named = idOrName<FilterContext>({ id: 'l.id', name: 'l.name_folded' });

export const credited: ItemWhere = related(
  (query) => query.from('credits as c').join('people as who', 'who.id', 'c.person_id').whereRaw('c.item_id = i.id'),
  idOrName({ id: 'who.id', name: 'who.name_folded' }),
);

/** Matches items that have a file for which `match` is true of `f`. */
export const onFile = (match: ItemWhere): ItemWhere =>
  related((query) => query.from('media_files as f').whereRaw('f.item_id = i.id and not f.ignored'), match);

/** Matches items that have a stream of one kind for which `match` is true of `st`. */
export const onStream = (kind: 'video' | 'audio' | 'subtitle', match: ItemWhere): ItemWhere =>
  related(
    (query) =>
      query
        .from('media_files as f')
        .join('media_streams as st', 'st.file_id', 'f.id')
        .whereRaw(`f.item_id = i.id and not f.ignored and st.kind = '${kind}'`),
    match,
  );

/**
 * A parent or grandparent of one type, by id or title, or a name in the item's own list when the scan knows only names.
 */
export function above(type: string, list: string): ItemWhere {
  const parents = related<FilterContext>(
    (query) => query.from('items as a').whereRaw(`a.id in (i.parent_id, i.grandparent_id) and a.type = '${type}'`),
    idOrName({ id: 'a.id', name: 'foyer_fold(a.title)' }),
  );
  const listed = inList(list);
  return (query, condition, context) => {
    const inParents = (inner: Query): void => parents(inner, condition, context);
    const inNames = (inner: Query): void => listed(inner, condition, context);
    if (matchesAbsence(condition)) query.where(inParents).where(inNames);
    else query.where(inParents).orWhere(inNames);
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

/** Ids of items. Hidden or unknown ids match nothing. */
export const itemId =
  (sql: string): ItemWhere =>
  (query, condition, context) => {
    if (condition.op === 'exists') {
      scalar<FilterContext>(sql, 'uuid')(query, condition, context);
      return;
    }
    scalar<FilterContext>(`${sql}::text`, 'text')(
      query,
      { ...condition, values: condition.values.map((value) => value.toLowerCase()) },
      context,
    );
  };

/** Local time of a photo by its own offset (details.takenOffsetMinutes), else in the given zone. */
export const takenLocally = (
  zone: string,
): string => `case when jsonb_typeof(i.details -> 'takenOffsetMinutes') = 'number'
  then (i.taken_at at time zone 'UTC') + make_interval(mins => (i.details ->> 'takenOffsetMinutes')::numeric::int)
  else i.taken_at at time zone ${zone} end`;

/** A photo without an offset has the day of the server's zone, as in the timeline. */
export const takenDay: ItemWhere = scalar(`to_char(${takenLocally('?')}, 'MM-DD')`, 'text', ({ zone }) => [zone]);

/** A parent or grandparent of the item. */
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

/** Playable items in a container that the caller may see and that match `which`. */
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
  /** Has one `?` for each of `leaves`. */
  container: string;
  leaves: readonly string[];
}

/** A condition on the caller's state of the item, or of the playable items in a container. */
function stateOf({ leaf, container, leaves: kinds }: OfState): Where<Pick<FilterContext, 'who'>> {
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

/**
 * The location of a photo is visible to editors, and in libraries that share it. The condition matches nothing
 * elsewhere.
 */
export const shared =
  (where: ItemWhere): ItemWhere =>
  (query, condition, context) => {
    where(query, condition, context);
    if (context.who.permissions.has('item:edit')) return;
    query.whereRaw(`exists (select 1 from libraries sharing where sharing.id = i.library_id
      and coalesce(sharing.settings ->> 'shareLocation', 'true') <> 'false')`);
  };

/** A field that no item has a value for, because no area stores it yet. */
export const never: ItemWhere = (query, condition) => {
  query.whereRaw(matchesAbsence(condition) ? 'true' : 'false');
};

export { calendarDay, flag, folded, moment, scalar };
