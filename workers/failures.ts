// Who hears that a job failed.
import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';
import { isTask } from '#platform/maintenance/tasks.ts';

interface Failed {
  id: string;
  kind: string;
  cause: string;
}

/** A scheduled task that fails is tried again by its schedule; people hear of it when it keeps failing. */
const FAILURES_TO_REPORT = 3;

/** Whether people hear of a failure: of a scheduled task only when it is the third in a row. */
export const isReported = ({ kind, cause }: Failed, failures: number): boolean =>
  !isTask(kind) || cause !== 'schedule' || failures === FAILURES_TO_REPORT;

/** Notifies those who manage jobs. */
export async function notifyFailed(db: Db, { id, kind }: Pick<Failed, 'id' | 'kind'>): Promise<void> {
  const target = { kind: 'job', id };
  await notify(db, { kind: 'job-failed', target, data: { name: kind }, mergeKey: `job-failed:${kind}` });
}
