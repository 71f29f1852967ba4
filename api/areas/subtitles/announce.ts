import { reviseItems } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';

type ItemRow = Pick<Row<'items'>, 'library_id' | 'type' | 'title' | 'labels' | 'age_years'>;

/** Reports that the subtitles of an item changed, in the caller's transaction. */
export async function announceSubtitles(db: Db, itemId: string): Promise<void> {
  await reviseItems(db, [itemId]);
  const [row] = await rowsOf<ItemRow>(
    db,
    `select i.library_id, i.type, i.title, i.labels, ${ageSql('i')} as age_years from items i where i.id = ?`,
    [itemId],
  );
  if (!row) return;
  const { library_id: libraryId, type, title, labels, age_years: age } = row;
  await emit(db, 'item.updated', {
    payload: { itemId, libraryId, type, title, changed: ['subtitles'] },
    facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
  });
}
