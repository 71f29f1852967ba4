import { onlyShownCollections } from '#identity/collection-sight.ts';
import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';

interface Held {
  item_id: string;
  id: string;
  name: string;
}

/** Collections kept by hand or by a catalogue that hold each item, as the caller sees them, by name. */
export async function findCollections(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const rows: Held[] = await db
    .from('collection_items as ci')
    .join('collections as c', 'c.id', 'ci.collection_id')
    .whereRaw(`ci.item_id = any(?::uuid[]) and c.kind = 'manual'`, [[...ids]])
    .modify(onlyShownCollections, who)
    .orderBy(['c.sort_folded', 'c.id'])
    .select('ci.item_id', 'c.id', 'c.name');
  return new Map(
    [...Map.groupBy(rows, (row) => row.item_id)].map(([item, held]) => [
      item,
      held.map(({ id, name }) => ({ id, name })),
    ]),
  );
}
