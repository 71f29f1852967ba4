import type { Db } from '#platform/db.ts';
import type { FieldName } from '#platform/item-values.ts';
import type { ServerPlace } from './known.store.ts';
import { type Relock, type Settled, settleItems } from './settle.ts';
import { dropEdits, putEdits } from './write.store.ts';

/** Values that a person sets in one item; null gives a field back to its sources. */
export interface FieldEdits {
  itemId: string;
  fields: ReadonlyMap<FieldName, unknown>;
}

interface Editor {
  accountId: string | null;
  /** Whether set values are locked; otherwise the next refresh may replace them. */
  lock: boolean;
  place: ServerPlace;
}

/**
 * Applies edits of a person with their locks, in the caller's transaction, which has raised the change numbers of the
 * libraries. Returns the items that changed.
 */
export async function editFields(
  db: Db,
  edits: readonly FieldEdits[],
  { accountId, lock, place }: Editor,
): Promise<Settled[]> {
  const rows = edits.flatMap(({ itemId, fields }) =>
    [...fields].map(([field, value]) => ({ item_id: itemId, field, value })),
  );
  if (rows.length === 0) return [];
  const set = rows.filter(({ value }) => value !== null);
  await dropEdits(
    db,
    rows.filter(({ value }) => value === null),
  );
  await putEdits(
    db,
    set.map((row) => ({ ...row, account_id: accountId })),
  );
  const relocks = new Map(edits.map(({ itemId, fields }) => [itemId, relockOf(fields, lock)]));
  const only = new Set(rows.map(({ field }) => field));
  return settleItems(db, [...relocks.keys()], { place, only, relocks });
}

const relockOf = (fields: FieldEdits['fields'], lock: boolean): Relock => ({
  open: [...fields.keys()],
  locked: lock ? [...fields].flatMap(([field, value]) => (value === null ? [] : [field])) : [],
});

/** Sets all locks of one item. */
export async function setLocks(db: Db, itemId: string, fields: readonly string[]): Promise<void> {
  await db('items')
    .where({ id: itemId })
    .update({
      locked_fields: [...fields],
      revision: db.raw('revision + 1'),
      change_seq: db.raw('(select l.change_seq from libraries l where l.id = items.library_id)'),
      updated_at: new Date(),
    });
}

/** Raises the change numbers of the libraries of items; their rows stay locked until the transaction ends. */
export async function raiseChangesOfItems(db: Db, itemIds: readonly string[]): Promise<void> {
  await db.raw(
    `with held as (select l.id from libraries l where l.id in (select i.library_id from items i where i.id = any(?::uuid[]))
       order by l.id for no key update)
     update libraries l set change_seq = l.change_seq + 1 from held where l.id = held.id`,
    [[...itemIds]],
  );
}
