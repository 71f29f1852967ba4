// What jobs do to values.
import type { Db } from '#platform/db.ts';
import { KEPT_DAYS } from './custom-fields.store.ts';

/** Refreshes what Postgres knows of the values, without which it may sort a library by reading all of them, and counts them. */
export async function indexField(db: Db, fieldId: string): Promise<void> {
  await db.raw('analyze custom_values');
  await db('custom_fields')
    .where({ id: fieldId })
    .whereNull('deleted_at')
    .update({
      index_state: 'ready',
      value_count: db.raw('(select count(distinct item_id) from custom_values where field_id = ?)', [fieldId]),
    });
}

/** A record that becomes another one. */
interface Joined {
  from: string;
  into: string;
}

const PAIR = `jsonb_to_recordset(?::jsonb) as r("from" uuid, "into" uuid)`;

/** Moves the values of items to the items that those become part of, where these have none in the field. */
export async function joinValues(db: Db, pairs: readonly Joined[]): Promise<void> {
  await db.raw(
    `update custom_values v set item_id = r.into from ${PAIR} where v.item_id = r.from
       and not exists (select from custom_values o where o.item_id = r.into and o.field_id = v.field_id)`,
    [JSON.stringify(pairs)],
  );
}

/** Makes values that name an item or a person name what it has become. */
export async function redirectValues(db: Db, pairs: readonly Joined[]): Promise<void> {
  await db.raw(`update custom_values v set ref_id = r.into from ${PAIR} where v.ref_id = r.from`, [
    JSON.stringify(pairs),
  ]);
}

const BATCH = 5000;

/** Removes a batch of values of a field that was deleted 30 days ago, and at last the field. False when nothing is left to do. */
export async function purgeValues(db: Db, fieldId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const due = await tx('custom_fields')
      .where({ id: fieldId })
      .whereRaw('deleted_at <= now() - make_interval(days => ?)', [KEPT_DAYS])
      .forUpdate()
      .first('id');
    if (!due) return false;
    const { rowCount } = await tx.raw<{ rowCount: number }>(
      `delete from custom_values where ctid = any(array(select ctid from custom_values where field_id = ? limit ${BATCH}))`,
      [fieldId],
    );
    if (rowCount === BATCH) return true;
    await tx('custom_fields').where({ id: fieldId }).delete();
    return false;
  });
}
