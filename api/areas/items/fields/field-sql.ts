import type { Knex } from 'knex';
import { onlyShownCollections } from '#identity/collection-sight.ts';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels, onlyVisibleItems } from '#identity/visibility.ts';
import {
  folded,
  idOrName,
  idsIn,
  matchesAbsence,
  positive,
  related,
  type SqlField,
  scalar,
  type Where,
} from '#kernel/filter-sql.ts';
import { containersSql } from '#platform/item-types.ts';

/**
 * Building blocks of the item filter fields. Their SQL assumes the query of `visibleItems`: `items as i`, and the
 * profile's own `item_states as s`. Strings in the SQL come only from this program; values of a request are bound.
 */

/** The values that fields read in addition to the condition. */
export interface FilterContext {
  who: Principal;
  /** Resolves relative dates such as `now-30d`. */
  now: Date;
  /** IANA name of the server's time zone. */
  zone: string;
}
export type ItemWhere = Where<FilterContext>;

/** A filter field of items. */
export interface ItemField extends SqlField<FilterContext> {
  /** Shown in filter editors. */
  label: string;
  /** Item types that have the field; absent is all. */
  types?: readonly string[];
  /** Name of the sort by this field. */
  sort?: string;
  /** That sort walks an index; lists of more than 50,000 items refuse other sorts. */
  indexed?: true;
  /** The values can be counted as a facet. */
  facet?: true;
  /** Reads the state of the caller's own profile. */
  mine?: true;
  /** Requires the permission `item:edit`. */
  editors?: true;
}

type Query = Knex.QueryBuilder;

/** SQL of a text inside `details`: `detail('place', 'city')`. The path must be constant. */
export const detail = (...path: string[]): string => `(i.details #>> '{${path.join()}}')`;

/** SQL of a number inside `details`; null for a value that is no number. */
export const detailNumber = (...path: string[]): string =>
  `(case when jsonb_typeof(i.details #> '{${path.join()}}') = 'number' then ${detail(...path)}::double precision end)`;

/** A text inside `details`, compared without case and accents. */
export const foldedDetail = (...path: string[]): ItemWhere => folded(`foyer_fold(${detail(...path)})`);

/** Tags of one kind, by id or by folded name. */
export function tagged(kind: string): ItemWhere {
  const rows = (query: Query): void => {
    query.from('item_tags as t').whereRaw(`t.item_id = i.id and t.library_id = i.library_id and t.kind = '${kind}'`);
  };
  return related(rows, idOrName({ id: 't.tag_id', name: 't.name_folded' }));
}

/**
 * Own and inherited labels, by id or name. Labels hidden from the caller match nothing. `i.labels` holds label
 * numbers; `<> '{}'` is the condition of their partial index.
 */
export const labelled: ItemWhere = (query, condition, context) => {
  const numbers = query.client.queryBuilder().from('labels as l').select('l.number') as Query;
  onlyKnownLabels(numbers, context.who, 'l');
  if (condition.op !== 'exists') numbers.where((all: Query) => named(all, positive(condition), context));
  const sql = matchesAbsence(condition) ? 'not i.labels && array(?)' : `i.labels <> '{}' and i.labels && array(?)`;
  query.whereRaw(sql, [numbers] as unknown as string[]);
};
const named = idOrName<FilterContext>({ id: 'l.id', name: 'l.name_folded' });

/** Collections that are kept by hand or by a catalogue, by id or name. Those that the caller does not see match nothing. */
export const collected: ItemWhere = related(
  (query, { who }) => {
    query.from('collection_items as ci').join('collections as c', 'c.id', 'ci.collection_id');
    query.whereRaw(`ci.item_id = i.id and c.kind = 'manual'`).modify(onlyShownCollections, who);
  },
  idOrName({ id: 'c.id', name: 'c.name_folded' }),
);

/** People in the credits, by id or name; the id of one who was merged names the survivor. */
export const credited: ItemWhere = related(
  (query) => query.from('credits as c').join('people as p', 'p.id', 'c.person_id').whereRaw('c.item_id = i.id'),
  (query, condition, context) => {
    query.where((either: Query) => byIdOrName(either, condition, context));
    const ids = idsIn(condition.values);
    if (ids.length === 0) return;
    query.orWhereRaw('p.id in (select a.person_id from person_aliases a where a.old_id = any(?::uuid[]))', [ids]);
  },
);
const byIdOrName = idOrName<FilterContext>({ id: 'p.id', name: 'p.name_folded' });

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
 * A parent or grandparent of type `type`, by id or title, or a name in the list `details.<list>`, for items whose scan
 * knows only names. A negated condition must hold for both.
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

/** The names in the list `details.<list>`, whose members are `{ name }`. */
export const inList = (list: string): ItemWhere =>
  related(
    (query) =>
      query.joinRaw(
        `from jsonb_array_elements(case when jsonb_typeof(i.details -> '${list}') = 'array' then i.details -> '${list}' else '[]' end) as e`,
      ),
    folded(`foyer_fold(e ->> 'name')`),
  );

/**
 * A uuid column by the ids of items. Values are compared as text, because an invalid uuid must match nothing instead of
 * failing the query.
 */
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

/**
 * SQL of the local time of a photo: by its own offset (`details.takenOffsetMinutes`), else in the time zone that the SQL
 * `zone` names, such as `?`.
 */
export const takenLocally = (
  zone: string,
): string => `case when jsonb_typeof(i.details -> 'takenOffsetMinutes') = 'number'
  then (i.taken_at at time zone 'UTC') + make_interval(mins => (i.details ->> 'takenOffsetMinutes')::numeric::int)
  else i.taken_at at time zone ${zone} end`;

/** The day of a year, `MM-DD`, on which a photo was taken; see `takenLocally`. */
export const takenDay: ItemWhere = scalar(`to_char(${takenLocally('?')}, 'MM-DD')`, 'text', ({ zone }) => [zone]);

/** A parent or grandparent of the item. */
export const ancestor: ItemWhere = related(
  (query) =>
    query
      .from(query.client.raw('unnest(array[i.parent_id, i.grandparent_id]) as up(id)'))
      .whereRaw('up.id is not null'),
  // `related` passes only eq and in, for which `any` is right.
  (query, condition) => {
    query.whereRaw('up.id::text = any(?::text[])', [condition.values.map((value) => value.toLowerCase())]);
  },
);

/** `provider:id`, such as `imdb:tt0111161`. Uses the index of `external_ids`. */
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

/** Sub-query of the visible playable items `k` in container `i`, with state `ks`, for which the SQL `match` is true. */
function leavesIn(query: Query, who: Principal, match: string): Query {
  const leaves = query.client.queryBuilder().from('items as k') as Query;
  return leaves
    .select(query.client.raw('1'))
    .joinRaw('left join item_states ks on ks.item_id = k.id and ks.profile_id = ?::uuid', [
      (who.profileId || null) as unknown as string,
    ])
    .whereRaw(`k.extra_of is null and k.type <> all(${containersSql}) and ${match}`)
    .whereRaw('(k.parent_id = i.id or k.grandparent_id = i.id)')
    .modify(onlyVisibleItems, who, 'k');
}

const ANY = 'true';
const UNWATCHED = 'not coalesce(ks.watched, false)';
const STARTED = '(ks.watched or ks.position_ms > 0)';

/**
 * Whether the profile has watched `i`, looked up item by item: with the joined state, which the planner may read by a hash, a page in the
 * order of an index would read its whole library.
 */
const WATCHED = 'exists (select from item_states w where w.item_id = i.id and w.profile_id = ?::uuid and w.watched)';

interface StateSql {
  /** Condition for an item that is played itself: over `s`, or with a `?` for the profile. */
  leaf: string;
  /** Condition for a container, with a `?` for the sub-query of each member of `leaves`. */
  container: string;
  /** Conditions on the playable items in the container, see `leavesIn`. */
  leaves: readonly string[];
}

/** A boolean field over the caller's state of the item, or of the playable items in a container. */
function stateOf({ leaf, container, leaves }: StateSql): Where<Pick<FilterContext, 'who'>> {
  const isTrue = `(case when i.type = any(${containersSql}) then ${container} else ${leaf} end)`;
  return (query, condition, { who }) => {
    const expected = (condition.values[0] === 'true') === (condition.op === 'eq');
    const subQueries: unknown[] = leaves.map((match) => leavesIn(query, who, match));
    const profile = leaf.includes('?') ? [who.profileId || null] : [];
    query.whereRaw(expected ? isTrue : `not ${isTrue}`, [...subQueries, ...profile] as string[]);
  };
}

/** A container is watched when it holds playable items and all are watched. */
export const watched = stateOf({
  leaf: WATCHED,
  container: '(not exists ? and exists ?)',
  leaves: [UNWATCHED, ANY],
});
export const unwatched = stateOf({
  leaf: `not ${WATCHED}`,
  container: 'exists ?',
  leaves: [UNWATCHED],
});
/**
 * An item with a position is in progress, also one that was watched before and is watched again. A container is in
 * progress when some of its items are unwatched and some were started.
 */
export const inProgress = stateOf({
  leaf: '(coalesce(s.position_ms, 0) > 0)',
  container: '(exists ? and exists ?)',
  leaves: [UNWATCHED, STARTED],
});

/**
 * Limits a condition on the place of a photo to places that the caller may see: editors see all, others those of
 * libraries that share them. Without this limit, a filter would reveal a hidden place.
 */
export const onVisiblePlace =
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
