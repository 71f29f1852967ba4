import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { unwatched } from './field-sql.ts';

/** Restricts a query of visibleItems to those that the profile has not watched; a container, when something in it is unwatched. */
export function onlyUnwatched(query: Knex.QueryBuilder, who: Principal): void {
  unwatched(query, { field: 'unwatched', op: 'eq', values: ['true'] }, { who });
}
