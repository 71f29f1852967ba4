import type { Db } from '#platform/db.ts';
import { markStale } from '../schedule/schedule.store.ts';

/** Switches off the rules of an account that is deleted, and cancels what it planned. Running recordings end as planned. */
export async function leaveRecordings(db: Db, accountId: string): Promise<void> {
  await db('recording_rules').where({ account_id: accountId }).update({ enabled: false, updated_at: db.fn.now() });
  const cancelled = await db('recordings')
    .where({ account_id: accountId })
    .whereIn('state', ['scheduled', 'conflict'])
    .update({ state: 'cancelled', planned_from: null, planned_to: null, slot: null, updated_at: db.fn.now() });
  if (cancelled > 0) await markStale(db);
}
