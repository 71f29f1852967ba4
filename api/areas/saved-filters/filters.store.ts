import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { conflict } from '#kernel/errors.ts';
import { breaks, type Db, existing } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { FilterDraft } from './saved-filters.schemas.ts';

/** A filter with the person whose it is. */
export interface FilterRow extends Row<'saved_filters'> {
  account_id: string;
  owner_name: string;
}

/** Filters of a profile in a library, and shared ones of a library. */
const MOST = { own: 100, shared: 50 };

function everyFilter(db: Db): Knex.QueryBuilder<object, FilterRow[]> {
  return db('saved_filters as f')
    .join('profiles as p', 'p.id', 'f.profile_id')
    .join('accounts as a', 'a.id', 'p.account_id')
    .select('f.*', 'p.account_id', 'a.display_name as owner_name') as Knex.QueryBuilder<object, FilterRow[]>;
}

function selectFilters(db: Db, who: Principal): Knex.QueryBuilder<object, FilterRow[]> {
  return everyFilter(db).where(
    (any) => void any.where('f.shared', true).orWhereRaw('f.profile_id = ?::uuid', [who.profileId || null]),
  );
}

/** A filter that was just written. */
export async function readFilter(db: Db, id: string): Promise<FilterRow> {
  const [row] = await everyFilter(db).where('f.id', id);
  return existing(row);
}

/** Own ones by position, then shared ones of others by name. */
export async function listFilters(db: Db, who: Principal, libraryId: string): Promise<FilterRow[]> {
  return selectFilters(db, who)
    .where('f.library_id', libraryId)
    .orderByRaw('(f.profile_id = ?::uuid) is not true', [who.profileId || null])
    .orderByRaw('case when f.profile_id = ?::uuid then f.position end', [who.profileId || null])
    .orderBy(['f.name_folded', 'f.id']);
}

/** An own or a shared filter of the library; undefined for every other one. */
export async function findFilter(
  db: Db,
  who: Principal,
  { libraryId, id }: { libraryId: string; id: string },
): Promise<FilterRow | undefined> {
  const [row] = await selectFilters(db, who).where({ 'f.library_id': libraryId, 'f.id': id });
  return row;
}

/** An own or a shared filter of any library. */
export async function findFilterById(db: Db, who: Principal, id: string): Promise<FilterRow | undefined> {
  const [row] = await selectFilters(db, who).where('f.id', id);
  return row;
}

/** Whether the id is taken, by whomever. */
export async function isTaken(db: Db, id: string): Promise<boolean> {
  return (await db('saved_filters').where({ id }).first('id')) !== undefined;
}

/** Makes changes of a library's filters wait for each other. */
export async function lockFilters(db: Db, libraryId: string): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtextextended('filters:' || ?, 0))`, [libraryId]);
}

interface Place {
  id: string;
  libraryId: string;
  profileId: string;
}

/** Throws 409 `too-many-filters`. */
export async function refuseTooMany(db: Db, { id, libraryId, profileId }: Place, shared: boolean): Promise<void> {
  const [row] = await db('saved_filters')
    .where({ library_id: libraryId })
    .whereNot({ id })
    .select<{ own: number; shared: number }[]>(
      db.raw('count(*) filter (where profile_id = ?)::int as own, count(*) filter (where shared)::int as shared', [
        profileId,
      ]),
    );
  if ((row?.own ?? 0) >= MOST.own || (shared && (row?.shared ?? 0) >= MOST.shared))
    throw conflict('too-many-filters', `At most ${MOST.own} filters, and ${MOST.shared} shared ones`, { limits: MOST });
}

/** Creates or replaces it, and puts it in its place among those of the profile. Throws 409 `duplicate-name`. */
export async function writeFilter(db: Db, place: Place, draft: FilterDraft): Promise<void> {
  const { id, libraryId, profileId } = place;
  const others = await db('saved_filters')
    .where({ library_id: libraryId, profile_id: profileId })
    .whereNot({ id })
    .orderBy(['position', 'id'])
    .pluck('id');
  const columns = columnsOf(db, draft);
  try {
    await db('saved_filters')
      .insert({ id, library_id: libraryId, profile_id: profileId, position: 0, ...columns })
      .onConflict('id')
      .merge({ ...columns, updated_at: db.raw('clock_timestamp()') });
  } catch (error) {
    if (breaks(error, 'saved_filters_library_id_profile_id_name_folded_key'))
      throw conflict('duplicate-name', 'Another filter has this name');
    throw error;
  }
  await number(db, others.toSpliced(draft.position ?? others.length, 0, id));
}

const columnsOf = (db: Db, draft: FilterDraft) => ({
  ...{ name: draft.name, name_folded: db.raw('foyer_fold(?)', [draft.name]), filter: draft.filter, sort: draft.sort },
  ...{ view: draft.view ?? null, group_by: draft.groupBy ?? null, icon: draft.icon ?? null },
  ...{ pinned: draft.pinned, shared: draft.shared },
});

async function number(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(
    `update saved_filters f set position = n.position - 1 from unnest(?::uuid[]) with ordinality as n(id, position)
     where f.id = n.id and f.position <> n.position - 1`,
    [[...ids]],
  );
}

/** Deletes it and closes the gap. */
export async function deleteFilter(
  db: Db,
  { id, library_id: libraryId, profile_id: profileId }: Pick<FilterRow, 'id' | 'library_id' | 'profile_id'>,
): Promise<void> {
  await db('saved_filters').where({ id }).delete();
  const rest = await db('saved_filters')
    .where({ library_id: libraryId, profile_id: profileId })
    .orderBy(['position', 'id'])
    .pluck('id');
  await number(db, rest);
}

/** Names another label in filters, after two became one. */
export async function renameLabelInFilters(db: Db, from: string, to: string): Promise<void> {
  await db.raw('update saved_filters set filter = replace(filter, ?, ?) where filter like ?', [from, to, `%${from}%`]);
}
