// Whether a process is to restore a backup now. Pure.
import type { KubeObject } from '../runtime/kube.ts';
import type { Context } from './desired/context.ts';
import { labelsOf } from './desired/meta.ts';
import { restoreJob } from './desired/restore.ts';
import { childrenOf, holding, type Seen } from './observed.ts';

/**
 * The Job that is to be there while the server says that a restore is on record, or that it waits for one. A server that is closed
 * for it says nothing, and has nobody else to open it: until a Job of it is through it is wanted, however often somebody takes it
 * away, and whatever becomes of the resource; built once more only for what is in force.
 */
export function restoreOf(context: Context, seen: Seen, ready: boolean): KubeObject | undefined {
  if (!isWanted(seen, jobsOf(context, seen))) return undefined;
  return ready ? restoreJob(context) : seen.release?.restore;
}

/** One that ended is left out, and so deleted, before there is another. */
export function restoreJobs(job: KubeObject | undefined, context: Context, seen: Seen): KubeObject[] {
  if (!job) return [];
  const there = jobsOf(context, seen).find(({ metadata }) => metadata.name === job.metadata.name);
  return holding(there, 'Complete') || holding(there, 'Failed') ? [] : [job];
}

function jobsOf({ server }: Context, seen: Seen): KubeObject[] {
  const labels = Object.entries(labelsOf(server, 'restore'));
  return childrenOf(seen, 'Job').filter(({ metadata }) =>
    labels.every(([key, text]) => metadata.labels?.[key] === text),
  );
}

function isWanted({ api, release }: Seen, there: readonly KubeObject[]): boolean {
  if (api.restoring !== undefined) return api.restoring;
  if (there.some((job) => holding(job, 'Complete'))) return false;
  return release?.restore !== undefined || there.length > 0;
}
