import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { SortTable } from '#kernel/sort.ts';
import type { Db } from '#platform/db.ts';
import type { VisibleItem } from '../item/items.store.ts';

export const creditSorts = {
  order: { column: 'c.rank', type: 'bigint' },
  name: { column: 'c.name_folded', type: 'text' },
} as const satisfies SortTable;

/**
 * Credits of an item as `c`. An episode has its own credits (guests first), then those of its show; a show counts the
 * episodes of each person.
 */
export function creditsOf(
  { db, who }: { db: Db; who: Principal },
  item: VisibleItem,
  roles: readonly string[] | undefined,
): Knex.QueryBuilder {
  const owners = [item.id, ...(item.type === 'episode' && item.grandparentId ? [item.grandparentId] : [])];
  const episodes = db('credits as o')
    .join('items as e', 'e.id', 'o.item_id')
    .whereRaw('o.person_id = c.person_id and e.grandparent_id = c.item_id')
    .modify(onlyVisibleItems, who, 'e')
    .select(db.raw('count(distinct e.id)::int'));
  const inner = db('credits as c')
    .join('people as p', 'p.id', 'c.person_id')
    .whereRaw('c.item_id = any(?::uuid[])', [owners])
    .select('c.id', 'c.item_id', 'c.person_id', 'c.role', 'c.character', 'c.job', 'c.position', 'c.guest')
    .select('p.name', 'p.name_folded', 'p.portrait')
    .select(
      db.raw(
        `(array_position(?::uuid[], c.item_id) * 10000000::bigint + (case when c.guest then 0 else 1000000 end)
          + least(c.position, 999999)) as rank`,
        [owners],
      ),
    )
    .select(item.type === 'show' ? episodes.as('episodes') : db.raw('null::int as episodes'));
  if (roles) inner.whereRaw('c.role = any(?::text[])', [[...roles]]);
  return db.queryBuilder().from(inner.as('c')).select('c.*');
}
