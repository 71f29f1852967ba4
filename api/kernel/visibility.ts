import type { Knex } from 'knex';
import type { Principal, Sight } from './principal.ts';

/**
 * What an account sees, as conditions of the query itself: library access ∧ age ∧ labels ∧ not trashed. Viewing hours
 * are judged once a request by the pipeline. There is no other place that decides this.
 */

/** For a query over `libraries`, or any table with a library id in `column`. */
export function onlyVisibleLibraries(query: Knex.QueryBuilder, who: Principal, column = 'libraries.id'): void {
  const { sees } = who;
  query.whereExists((library) => {
    library.from('libraries as seen').whereRaw('seen.id = ??', [column]).whereNull('seen.deleted_at');
    narrowToAccess(library, sees);
    if (sees.ageLimit !== undefined) library.whereRaw('coalesce(seen.age_limit, 0) <= ?', [sees.ageLimit]);
    if (sees.profileLibraries) library.whereRaw('seen.id = any(?::uuid[])', [[...sees.profileLibraries]]);
  });
}

function narrowToAccess(library: Knex.QueryBuilder, sees: Sight): void {
  if (sees.all) return;
  library.where((any) => {
    any.whereExists((row) => {
      row.from('library_access as granted').whereRaw('granted.library_id = seen.id');
      row.where('granted.account_id', sees.accountId);
    });
    if (sees.libraries === 'only') return;
    any.orWhere('seen.everyone', true).orWhereRaw('? = any(seen.access_roles)', [sees.role]);
  });
}

/** For a query over `items as <alias>`: not trashed, in a visible library, and neither it nor a parent above the age limit. */
export function onlyVisibleItems(query: Knex.QueryBuilder, who: Principal, alias = 'items'): void {
  query.whereNull(`${alias}.trashed_at`);
  onlyVisibleLibraries(query, who, `${alias}.library_id`);
  onlyOfAge(query, who.sees, alias);
}

const CONTAINERS = `('show', 'season', 'artist', 'album', 'author', 'comic-series', 'course', 'section', 'photo-album')`;

function onlyOfAge(query: Knex.QueryBuilder, sees: Sight, alias: string): void {
  if (sees.ageLimit === undefined && !sees.hideUnrated) return;
  const limit = sees.ageLimit ?? 1000;
  const unrated = sees.hideUnrated ? 1001 : 0;
  // A parent's rating holds for children that have none of their own, and a hidden parent hides its children.
  query.whereRaw(
    `coalesce((select max(above.age_years) from items above
       where above.id in (${alias}.id, ${alias}.parent_id, ${alias}.grandparent_id, ${alias}.extra_of)), ?) <= ?`,
    [unrated, limit],
  );
  // A container that holds nothing the account may see would tell that there is something.
  query.whereRaw(
    `(${alias}.type not in ${CONTAINERS} or exists (select 1 from items held
       where (held.parent_id = ${alias}.id or held.grandparent_id = ${alias}.id) and held.type not in ${CONTAINERS}
         and held.trashed_at is null and coalesce(held.age_years, ${alias}.age_years, ?) <= ?))`,
    [unrated, limit],
  );
}
