// Whether a restore Job is needed. Pure.
import type { KubeObject } from '../runtime/kube.ts';
import type { Manifest } from '../runtime/manifest.ts';
import type { Context } from './desired/context.ts';
import { labelsOf } from './desired/meta.ts';
import { restoreJob } from './desired/restore.ts';
import { childrenOf, type Observed, trueCondition } from './observed.ts';

/**
 * The restore Job, needed while the server reports a pending or running restore. A server that is closed for the restore
 * reports nothing, and only the Job can reopen it. So until a Job completed it stays desired, even if it is deleted or the
 * resource changes; it is rebuilt only for the release in force.
 */
export function restoreOf(context: Context, observed: Observed, ready: boolean): Manifest<'Job'> | undefined {
  if (!isNeeded(observed, jobsOf(context, observed))) return undefined;
  return ready ? restoreJob(context) : observed.release?.restore;
}

/** A finished Job is omitted, and so pruned, before the next one is created. */
export function restoreJobs(job: Manifest<'Job'> | undefined, context: Context, observed: Observed): Manifest<'Job'>[] {
  if (!job) return [];
  const existing = jobsOf(context, observed).find(({ metadata }) => metadata.name === job.metadata.name);
  return trueCondition(existing, 'Complete') || trueCondition(existing, 'Failed') ? [] : [job];
}

function jobsOf({ server }: Context, observed: Observed): KubeObject[] {
  const labels = Object.entries(labelsOf(server, 'restore'));
  return childrenOf(observed, 'Job').filter(({ metadata }) =>
    labels.every(([key, text]) => metadata.labels?.[key] === text),
  );
}

function isNeeded({ api, release }: Observed, existing: readonly KubeObject[]): boolean {
  if (api.restoring !== undefined) return api.restoring;
  if (existing.some((job) => trueCondition(job, 'Complete'))) return false;
  return release?.restore !== undefined || existing.length > 0;
}
