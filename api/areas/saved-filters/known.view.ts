import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels, onlyVisibleItems, visibleItemIds } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';

/** What conditions name and the caller may know, in lower case. */
export interface Known {
  /** Ids and names of labels. */
  labels: ReadonlySet<string>;
  /** Names of labels that are hidden from the caller. */
  secrets: ReadonlySet<string>;
  /** Ids of people and items. */
  ids: ReadonlySet<string>;
}

/** Reads labels and ids only where they are named. */
export async function knownTo(
  db: Db,
  who: Principal,
  named: { labels: boolean; ids: readonly string[] },
): Promise<Known> {
  const labels = new Set<string>();
  const secrets = new Set<string>();
  if (named.labels) {
    const known = await db('labels').modify(onlyKnownLabels, who).select('id', 'name');
    for (const { id, name } of known) labels.add(id).add(name.toLowerCase());
    for (const { id, name } of await db('labels').select('id', 'name'))
      if (!labels.has(id)) secrets.add(name.toLowerCase());
  }
  return { labels, secrets, ids: new Set(named.ids.length === 0 ? [] : await visibleIds(db, who, named.ids)) };
}

/** Those of these ids that are visible items, or people of visible items. */
async function visibleIds(db: Db, who: Principal, ids: readonly string[]): Promise<string[]> {
  const people = await db
    .from('people as p')
    .whereRaw('p.id = any(?::uuid[])', [[...ids]])
    .whereExists((credited) => {
      credited.select(db.raw('1')).from('credits as c').join('items as i', 'i.id', 'c.item_id');
      credited.whereRaw('c.person_id = p.id').modify(onlyVisibleItems, who, 'i');
    })
    .pluck<string[]>('p.id');
  return [...people, ...(await visibleItemIds(db, who, ids))];
}
