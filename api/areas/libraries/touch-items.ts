import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { emitMany } from '#platform/outbox.ts';

/** Increases the change numbers of these libraries and keeps the rows locked, in order of id to avoid deadlocks. */
export async function raiseChanges(db: Db, libraryIds: readonly string[]): Promise<void> {
  await db.raw(
    `with held as (select l.id from libraries l where l.id = any(?::uuid[]) order by l.id for no key update)
     update libraries l set change_seq = l.change_seq + 1 from held where l.id = held.id`,
    [[...libraryIds]],
  );
}

/**
 * Gives items a new revision in their libraries, whose change numbers the caller raised, and emits `item.updated` for
 * each with the names of the changed parts.
 */
export async function touchItems(db: Db, ids: readonly string[], changed: readonly string[]): Promise<void> {
  await db.raw(
    `update items i set change_seq = l.change_seq, revision = i.revision + 1, updated_at = now()
     from libraries l where l.id = i.library_id and i.id = any(?::uuid[])`,
    [[...ids]],
  );
  const items = await db('items')
    .whereRaw('id = any(?::uuid[]) and trashed_at is null', [[...ids]])
    .select('id', 'library_id', 'type', 'title', 'labels', db.raw(`${ageSql('items')} as age_years`));
  await emitMany(
    db,
    'item.updated',
    items.map(({ id: itemId, library_id: libraryId, type, title, labels, age_years: age }) => ({
      payload: { itemId, libraryId, type, title, changed: [...changed] },
      facts: { itemId, libraryId, labels, ...(typeof age === 'number' && { ageYears: age }) },
    })),
  );
}
