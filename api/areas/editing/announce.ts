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
  const rows = await eventRows(
    db,
    first.map(({ id }) => id),
  );
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

async function eventRows(db: Db, ids: readonly string[]): Promise<EventRow[]> {
  return db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select('id', 'library_id', 'type', 'title', 'labels', db.raw(`${ageSql('items')} as age_years`));
}

/** Emits `item.added` for new items. */
export async function announceAdded(db: Db, ids: readonly string[]): Promise<void> {
  const rows = await eventRows(db, ids);
  await emitMany(
    db,
    'item.added',
    rows.map((row) => {
      const { payload, facts } = eventOf(row, { id: row.id, changed: [] });
      return { payload: { itemId: row.id, libraryId: row.library_id, type: row.type, title: payload.title }, facts };
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
