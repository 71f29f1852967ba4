import type { Trashed } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { emitMany } from '#platform/outbox.ts';
import type { Row } from '#platform/typed-query.ts';

export interface ChangedItem {
  id: string;
  changed: string[];
  /** Its age limit before the change; absent when no age rating changed. */
  before?: number | null;
}

/** Events of one request; beyond it the containers above stand for the rest. */
const MOST_EVENTS = 100;

interface EventRow extends Pick<Row<'items'>, 'id' | 'library_id' | 'type' | 'title' | 'labels'> {
  age_years: number | null;
}

/** Emits `item.updated` for changed items, for the first 100 of them. */
export async function announce(db: Db, items: readonly ChangedItem[]): Promise<void> {
  const first = items.filter(({ changed }) => changed.length > 0).slice(0, MOST_EVENTS);
  const rows: EventRow[] = await db('items')
    .whereRaw('id = any(?::uuid[])', [first.map(({ id }) => id)])
    .select('id', 'library_id', 'type', 'title', 'labels', db.raw(`${ageSql('items')} as age_years`));
  const byId = new Map(rows.map((row) => [row.id, row]));
  await emitMany(
    db,
    'item.updated',
    first.flatMap((item) => {
      const row = byId.get(item.id);
      return row ? [eventOf(row, item)] : [];
    }),
  );
}

/** Emits `item.deleted` for items that went to the trash. */
export async function announceDeleted(db: Db, items: readonly Trashed[]): Promise<void> {
  await emitMany(
    db,
    'item.deleted',
    items.map(({ id: itemId, library_id: libraryId, type, title, labels, age_years: age }) => ({
      payload: { itemId, libraryId, type, title },
      facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
    })),
  );
}

function eventOf(row: EventRow, { changed, before }: ChangedItem) {
  const { id: itemId, library_id: libraryId, type, title, labels, age_years: age } = row;
  const differs = before !== undefined && before !== age;
  return {
    payload: { itemId, libraryId, type, title, changed },
    facts: {
      ...{ itemId, libraryId, labels },
      ...(age !== null && { ageYears: age }),
      ...(differs && { before: { ageYears: before } }),
    },
  };
}
