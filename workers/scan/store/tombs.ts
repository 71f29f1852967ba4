import { rowsOf } from '#platform/rows.ts';
import { recordset, type Writing } from './context.ts';
import type { ItemRow } from './item-rows.ts';

/** What a purge kept of an item. */
export interface Tomb {
  item_id: string;
  /** Rows of its states, of profiles that still exist. */
  states: unknown[];
}

/** Matches by the same name, by the same content under another name, or by the same catalogue id, in this order. */
const FITTING = `
  with r as (select * from jsonb_to_recordset(?::jsonb) as r(name text, type text, identity_key text, hashes text[], external_ids jsonb)),
       own as not materialized (select * from item_tombstones where library_id = ? and expires_at > now()),
       fits as (select t.item_id, r.name, 1 as how from r join own t on t.type = r.type and t.identity_key = r.identity_key
         union all select t.item_id, r.name, 2 from r join own t on t.type = r.type and t.hashes && r.hashes
         union all select t.item_id, r.name, 3 from r join own t on t.type = r.type
           where r.external_ids <> '{}' and exists (select from jsonb_each_text(r.external_ids) e where t.external_ids ->> e.key = e.value))
  select f.item_id, f.name, (select coalesce(jsonb_agg(s), '[]') from jsonb_array_elements(t.states) s
    where exists (select 1 from profiles p where p.id = (s ->> 'profile_id')::uuid)) as states
  from fits f join own t on t.item_id = f.item_id where not exists (select 1 from items where id = f.item_id) order by f.how`;

/**
 * Items purged within a year return under their old id, with the states of profiles that still exist. Keyed by the
 * names of the rows.
 */
export async function takeTombs(
  { db, library }: Pick<Writing, 'db' | 'library'>,
  rows: readonly ItemRow[],
): Promise<Map<string, Tomb>> {
  const searched = rows.map(({ name, type, identity_key, hashes, external_ids }) => ({
    ...{ name, type, identity_key, hashes, external_ids },
  }));
  const fitting = await rowsOf<Tomb & { name: string }>(db, FITTING, [recordset(searched), library.id]);
  const taken = new Map<string, Tomb>();
  const ids = new Set<string>();
  for (const { name, ...tomb } of fitting) {
    if (taken.has(name) || ids.has(tomb.item_id)) continue;
    taken.set(name, tomb);
    ids.add(tomb.item_id);
  }
  if (ids.size > 0)
    await db('item_tombstones')
      .whereIn('item_id', [...ids])
      .delete();
  return taken;
}
