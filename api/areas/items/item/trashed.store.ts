import type { Principal } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { ItemSummary } from '../items.schemas.ts';
import { type SummaryRow, summaryRows, withState } from './summaries.store.ts';

/** Summaries of trashed items, for the trash of Libraries only. */
export async function trashedSummaries(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, ItemSummary>> {
  const trashed = withState(db.from('items as i'), who)
    .whereNotNull('i.trashed_at')
    .modify(onlyVisibleLibraries, who, 'i.library_id');
  const rows: SummaryRow[] = await summaryRows(db, who, trashed).whereRaw('i.id = any(?::uuid[])', [[...ids]]);
  return new Map(rows.map((row) => [row.id, row.summary]));
}
