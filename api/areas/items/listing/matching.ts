import type { Knex } from 'knex';
import { conditionsOf } from '#kernel/filter.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { listed, rulesFor, type Viewer } from './listing.ts';
import { getVisibleLibrary, shelvesOf } from './shelves.store.ts';

/**
 * Visible `items as i` of a library that match a filter: the types that its list shows, or any type when the filter
 * names types. Throws 404 for a hidden library and 400 for an invalid filter.
 */
export async function itemsMatching(
  call: Viewer,
  libraryId: string,
  filter: string,
): Promise<{ query: Knex.QueryBuilder }> {
  const library = await getVisibleLibrary(call.db, call.who, libraryId);
  await knowCustomFields(call, { texts: [filter] });
  const rules = rulesFor(call, [], filter || undefined);
  const typed = conditionsOf(rules).some(({ field }) => field === 'type');
  const narrow = (query: Knex.QueryBuilder): unknown => query.where('i.library_id', library.id);
  const listing = typed ? { types: [], narrow } : { types: [], shelves: shelvesOf([library], undefined) };
  return { query: listed(call, listing, rules) }; // a bare query would run when awaited
}
