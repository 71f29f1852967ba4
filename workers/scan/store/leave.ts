import { recordRemovals } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

/** The facts of an item in events, which also select the recipients. */
export type ReportedItem = Pick<Row<'items'>, 'id' | 'type' | 'title' | 'age_years' | 'labels' | 'library_id'>;

const TOLD = `i.id, i.library_id, i.type, i.title, ${ageSql('i')} as age_years, i.labels`;

/**
 * Deletes items whose last file now belongs to another item, or moves them to the trash if a profile has a state of
 * them. Empty seasons and shows above them, before and now, go too. Returns all as they were.
 */
export async function leaveItems(
  db: Db,
  { former, above }: { former: readonly string[]; above: readonly string[] },
): Promise<ReportedItem[]> {
  if (former.length === 0) return [];
  const empty = `not exists (select 1 from media_files f where f.item_id = i.id) and not exists (select 1 from items c where c.parent_id = i.id) and not exists (select 1 from items c where c.grandparent_id = i.id)
     and not exists (select 1 from items c where c.extra_of = i.id)`;
  const containers = above.filter((id) => !former.includes(id));
  const left = [...(await leave(former)), ...(await leave(containers)), ...(await leave(containers))];
  return [...new Map(left.map((item) => [item.id, item])).values()];

  /** Twice for containers, because a show is empty only once its seasons are deleted. */
  async function leave(some: readonly string[]): Promise<ReportedItem[]> {
    const kept = await rowsOf<ReportedItem>(
      db,
      `update items i set trashed_at = now(), trash_reason = 'missing', updated_at = now(),
         change_seq = (select l.change_seq from libraries l where l.id = i.library_id)
       where i.id = any(?::uuid[]) and i.trashed_at is null and ${empty} and exists (select 1 from item_states s where s.item_id = i.id) returning ${TOLD}`,
      [some],
    );
    const deleted = await rowsOf<ReportedItem>(
      db,
      `delete from items i where i.id = any(?::uuid[]) and ${empty} and not exists (select 1 from item_states s where s.item_id = i.id) returning ${TOLD}`,
      [some],
    );
    for (const [libraryId, gone] of Map.groupBy(deleted, (item) => item.library_id))
      await recordRemovals(
        db,
        libraryId,
        gone.map(({ id }) => id),
      );
    return [...kept, ...deleted];
  }
}
