import { copyLabels } from '#areas/labels/public.ts';
import type { Writing } from './context.ts';
import { recordset } from './context.ts';
import type { WrittenFile } from './files.ts';
import { nameOf, type Resolved } from './item-rows.ts';

interface Pair {
  former: string;
  heir: string;
  /** Whether the heir is a new item. */
  fresh: boolean;
}

/**
 * An item that takes over the last file of another also gets its labels, and so does a new item that takes over any
 * file, so that a rescan never reveals hidden items. A new item also gets the age limit.
 */
export async function inheritLabels({ db }: Writing, resolved: Resolved, files: readonly WrittenFile[]): Promise<void> {
  const pairs = recordset(pairsOf(resolved, files));
  if (pairs === '[]') return;
  const pair = 'jsonb_to_recordset(?::jsonb) as r(former uuid, heir uuid, fresh boolean)';
  await copyLabels(db, pairs);
  await db.raw(
    `update items h set age_rating = i.age_rating, age_years = i.age_years from ${pair} join items i on i.id = r.former
     where h.id = r.heir and r.fresh and h.age_rating is null and i.age_rating is not null`,
    [pairs],
  );
  await db.raw(`select foyer_close_labels(array(select distinct r.heir from ${pair}))`, [pairs]);
}

/** Pairs of heir and previous item, each once. */
function pairsOf({ ids, added }: Resolved, files: readonly WrittenFile[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { placed } of files) {
    const { known, itemId, draft } = placed;
    if (!known) continue;
    const parent = draft.parent && ids.get(nameOf(draft.parent));
    const grandparent = draft.grandparent && ids.get(nameOf(draft.grandparent));
    note(known.item_id, itemId);
    if (parent && added.has(parent)) note(known.parent_id, parent);
    if (grandparent && added.has(grandparent)) note(known.grandparent_id, grandparent);
  }
  return [...pairs.values()];

  function note(former: string | null, heir: string): void {
    if (former !== null && former !== heir) pairs.set(`${former} ${heir}`, { former, heir, fresh: added.has(heir) });
  }
}
