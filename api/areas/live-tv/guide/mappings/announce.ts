import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { emitMany } from '#platform/outbox.ts';
import { rowsOf } from '#platform/rows.ts';

/** Events of one request; clients read the guide again at any of them. */
const MOST_EVENTS = 100;

interface Changed {
  id: string;
  library_id: string;
  title: string;
  labels: number[];
  age: number | null;
}

/** Emits `item.updated` for channels with another guide, for the first 100 of them. */
export async function announceChannels(db: Db, ids: readonly string[]): Promise<void> {
  const rows = await rowsOf<Changed>(
    db,
    `select id, library_id, title, labels, ${ageSql('items')} as age from items where id = any(?::uuid[])`,
    [ids.slice(0, MOST_EVENTS)],
  );
  await emitMany(
    db,
    'item.updated',
    rows.map(({ id: itemId, library_id: libraryId, title, labels, age }) => ({
      payload: { itemId, libraryId, type: 'channel', title, changed: ['guide'] },
      facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
    })),
  );
}
