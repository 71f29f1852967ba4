// Translates transcode Jobs between Kubernetes objects and the model of the pool.
import { createHash } from 'node:crypto';
import type { KubeObject } from '../runtime/kube.ts';
import type { JobSpec, PodTemplate } from '../runtime/manifest.ts';
import { podTrouble } from './pod-trouble.ts';
import { refusedPod } from './refused-pods.ts';
import type { NewJob, PoolJob } from './transcode-pool.ts';

export const TEMPLATE = 'foyer.media/template';
export const ACCELERATED = 'foyer.media/accelerated';
export const FALLBACK = 'foyer.media/fallback';
const JOB_NAME = 'batch.kubernetes.io/job-name';

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

interface Observed {
  status?: { conditions?: Condition[] };
}

const holds = (object: KubeObject, type: string): Condition | undefined =>
  (object as Observed).status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

/** The scheduler's message, while the pod is unschedulable. */
export function unschedulable(pod: KubeObject): string | undefined {
  const conditions = (pod as Observed).status?.conditions ?? [];
  const found = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return found?.reason === 'Unschedulable' ? (found.message ?? found.reason) : undefined;
}

const made = ({ metadata }: KubeObject): Date => new Date(metadata.creationTimestamp ?? 0);

/** The newest pod of a Job; older ones were evicted or failed. */
function podOf(job: KubeObject, pods: readonly KubeObject[]): PoolJob['pod'] {
  const own = pods.filter(({ metadata }) => metadata.labels?.[JOB_NAME] === job.metadata.name);
  const [newest] = own.sort((a, b) => made(b).getTime() - made(a).getTime());
  if (!newest) return undefined;
  const words = unschedulable(newest);
  const trouble = podTrouble(newest);
  return {
    name: newest.metadata.name,
    createdAt: made(newest),
    ...(words !== undefined && { unschedulable: words }),
    ...(trouble && { trouble }),
  };
}

export function poolJobs(
  jobs: readonly KubeObject[],
  { pods, refusals }: { pods: readonly KubeObject[]; refusals: ReadonlyMap<string, string> },
): PoolJob[] {
  return jobs.map((job) => {
    const { name, annotations = {}, deletionTimestamp } = job.metadata;
    const failed = holds(job, 'Failed');
    const pod = podOf(job, pods);
    const refused = refusedPod(job, { pods, refusals });
    return {
      name,
      index: Number(/\d+$/.exec(name)?.[0] ?? 0),
      template: annotations[TEMPLATE] ?? '',
      accelerated: annotations[ACCELERATED] === 'true',
      fallback: annotations[FALLBACK] === 'true',
      createdAt: made(job),
      completed: holds(job, 'Complete') !== undefined,
      deleting: deletionTimestamp !== undefined,
      ...(failed && { failedAt: new Date(failed.lastTransitionTime ?? 0) }),
      ...(pod && { pod }),
      ...(refused !== undefined && !pod && { refused }),
    };
  });
}

/** Covers the CPU template and the accelerated one. */
export const templateHash = (...templates: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(templates)).digest('hex').slice(0, 10);

/** Annotations from which the pool reads the state of a Job. */
export const jobAnnotations = ({ accelerated, fallback }: NewJob, template: string): Record<string, string> => ({
  [TEMPLATE]: template,
  [ACCELERATED]: String(accelerated),
  [FALLBACK]: String(fallback),
});

/** The Job replaces its pod when a node is drained or fails; a crash loop ends the Job. */
export const jobSpec = (template: PodTemplate): JobSpec => ({
  completions: 1,
  parallelism: 1,
  backoffLimit: 6,
  podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
  template,
});
