import type { Db } from '#platform/db.ts';
import type { Work } from '../work.ts';

/** Later refreshes of items within this time bring their people too. */
const DELAY_MS = 30_000;

/** Has people described who have no facts yet, or old ones. */
export async function queuePeople(work: Pick<Work, 'enqueue'>, db: Db): Promise<void> {
  await work.enqueue(db, 'people.refresh', {
    payload: {},
    options: { key: 'people.refresh', cause: 'scan', priority: 90, runAt: new Date(Date.now() + DELAY_MS) },
  });
}
