import type { Principal } from '#kernel/principal.ts';
import { onlyVisibleLibraries } from '#kernel/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { ItemSummary } from './items.schemas.ts';
import { type SummaryRow, summaryRows, toSummaries } from './summaries.store.ts';

/** Summaries of trashed items, which every other read hides: for the trash of Libraries alone. */
export async function trashedSummaries(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, ItemSummary>> {
  const trashed = db
    .from('items as i')
    .joinRaw('left join item_states s on s.item_id = i.id and s.profile_id = ?', [who.profileId || null])
    .whereNotNull('i.trashed_at')
    .modify(onlyVisibleLibraries, who, 'i.library_id');
  const rows: SummaryRow[] = await summaryRows(db, who, trashed).whereRaw('i.id = any(?::uuid[])', [[...ids]]);
  return new Map((await toSummaries(db, who, rows)).map((item) => [item.id, item]));
}
