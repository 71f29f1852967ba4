import type { Call } from '#kernel/endpoint.ts';
import { replan } from '../schedule/schedule.store.ts';
import { notifyConflicts } from './notices.ts';

/** Makes the plan again in the transaction of a change, and notifies the owners of recordings that lost their slot. */
export async function planNow({ db }: Pick<Call, 'db'>): Promise<void> {
  const { conflicts } = await replan(db);
  await notifyConflicts(db, conflicts);
}
