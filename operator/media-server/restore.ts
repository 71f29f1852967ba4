// Whether a process is to restore a backup now. Pure.
import type { KubeObject } from '../runtime/kube.ts';
import type { Context } from './desired/context.ts';
import { labelsOf } from './desired/meta.ts';
import { restoreJob } from './desired/restore.ts';
import { childrenOf, holding, type Seen } from './seen.ts';

/**
 * While the server says that a restore is on record, or that it waits for one; while it says nothing, one that is there goes on.
 * One that ended is left out, and so deleted, before there is another.
 */
export function restoreJobs(context: Context, seen: Seen): KubeObject[] {
  const labels = Object.entries(labelsOf(context.server, 'restore'));
  const there = childrenOf(seen, 'Job').filter(({ metadata }) =>
    labels.every(([key, text]) => metadata.labels?.[key] === text),
  );
  const { restoring } = seen.api;
  if (restoring === false || (restoring === undefined && there.length === 0)) return [];
  const job = restoreJob(context);
  const same = there.find(({ metadata }) => metadata.name === job.metadata.name);
  return holding(same, 'Complete') || holding(same, 'Failed') ? [] : [job];
}
