import type { Knex } from 'knex';
import { may, type Principal } from './principal.ts';
import { limitsItems, onlyVisibleItems } from './visibility.ts';

/** Who sees a collection, as query conditions. Of its items everyone sees those that they may see anyway. */

/** Restricts a query over `collections as c` to own ones, shared ones and, for editors, those of the server. */
function onlySharedCollections(query: Knex.QueryBuilder, who: Principal): void {
  query.where((any) => {
    any.whereRaw('c.owner_id = ?::uuid', [who.accountId || null]).orWhere('c.sharing', 'everyone');
    any.orWhereExists((named) => {
      named.from('collection_accounts as named').whereRaw('named.collection_id = c.id');
      named.whereRaw('named.account_id = ?::uuid', [who.accountId || null]);
    });
    if (may(who, 'item:edit')) any.orWhereNull('c.owner_id');
  });
}

/** SQL over `collections c`: the caller sees it whatever it holds. Those who see every item also see empty ones of the server. */
function keepsEmpty(who: Principal): { sql: string; bindings: (string | null)[] } {
  const own = { sql: 'c.owner_id = ?::uuid', bindings: [who.accountId || null] };
  if (!may(who, 'item:edit')) return own;
  const isWhole = who.sees.all && !limitsItems(who.sees);
  const empty = `c.kind = 'manual' and not exists (select from collection_items held where held.collection_id = c.id)`;
  return {
    ...own,
    sql: `(${own.sql} or (c.owner_id is null and c.source = 'person' and (${isWhole ? 'true' : empty})))`,
  };
}

/**
 * Restricts a query over `collections as c` to those that the caller sees: shared, and with a visible item unless it is the
 * caller's. Smart ones are all included, because only their rules determine what they hold.
 */
export function onlyShownCollections(query: Knex.QueryBuilder, who: Principal): void {
  const own = keepsEmpty(who);
  onlySharedCollections(query, who);
  query.where((any) => {
    any.whereRaw(own.sql, own.bindings as string[]).orWhereRaw(`c.kind = 'smart'`);
    any.orWhereExists((items) => void items.select(items.client.raw('1')).modify(heldItems, who));
  });
}

/** Visible items of the manual collection `c`, as `i` with their places `ci`. */
function heldItems(query: Knex.QueryBuilder, who: Principal): void {
  query
    .from('collection_items as ci')
    .join('items as i', 'i.id', 'ci.item_id')
    .whereRaw('ci.collection_id = c.id')
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i');
}
