import type { Knex } from 'knex';
import { conditionsOf } from '#kernel/filter.ts';
import { type Asker, listed, rulesFor } from './listing.ts';
import { getVisibleLibrary, shelvesOf } from './shelves.store.ts';

/**
 * Visible `items as i` of a library that a filter leaves: of those that its list shows, or of any type where the filter
 * names types. Throws 404 for a hidden library, 400 for a filter that says nothing.
 */
export async function itemsMatching(
  call: Asker,
  libraryId: string,
  filter: string,
): Promise<{ query: Knex.QueryBuilder }> {
  const library = await getVisibleLibrary(call.db, call.who, libraryId);
  const rules = rulesFor(call, [], filter || undefined);
  const typed = conditionsOf(rules).some(({ field }) => field === 'type');
  const narrow = (query: Knex.QueryBuilder): unknown => query.where('i.library_id', library.id);
  const listing = typed ? { types: [], narrow } : { types: [], shelves: shelvesOf([library], undefined) };
  return { query: listed(call, listing, rules) }; // a query itself would run when awaited
}
