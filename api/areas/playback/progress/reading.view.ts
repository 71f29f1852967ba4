import type { VisibleItem } from '#areas/items/public.ts';
import type { Db } from '#platform/db.ts';
import type { ReadingPosition } from './progress.schemas.ts';
import type { StateRow } from './progress.store.ts';

/** The page of a position that names one. */
export function pageOf(value: string): number | undefined {
  return value.startsWith('page:') ? Number(value.slice(5)) : undefined;
}

/** Number of pages of the item, if known. */
export async function pagesOf(db: Db, itemId: string): Promise<number | undefined> {
  const row = await db('items').where({ id: itemId }).first('details');
  return row?.details.pages;
}

/** Position of the profile in a book or comic; undefined when it was never opened. */
export async function readingOf(
  db: Db,
  item: VisibleItem,
  state: StateRow | undefined,
): Promise<ReadingPosition | undefined> {
  if (!state?.reading) return undefined;
  const { reading } = state;
  const page = pageOf(reading.value);
  const pages = await pagesOf(db, item.id);
  return {
    itemId: item.id,
    fileId: state.file_id,
    value: reading.value,
    progress: reading.progress,
    ...(page !== undefined && { page }),
    ...(pages !== undefined && { pages }),
    finished: reading.finished,
    deviceName: reading.deviceName,
    updatedAt: reading.at,
  };
}
