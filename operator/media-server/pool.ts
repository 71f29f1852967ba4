// The transcode Jobs of a pass: existing ones, each from its own templates, and new ones. Pure.
import type { KubeObject } from '../runtime/kube.ts';
import type { Manifest } from '../runtime/manifest.ts';
import { selectorOf } from './desired/meta.ts';
import { type TranscodeTemplates, transcodeJob } from './desired/transcode.ts';
import { childrenOf, type Observed } from './observed.ts';
import type { Server } from './server.ts';
import { poolJobs } from './transcode-jobs.ts';
import { type ObservedPool, type PoolPlan, planPool } from './transcode-pool.ts';

export interface Pool {
  state: ObservedPool;
  plan: PoolPlan;
  jobs: Manifest<'Job'>[];
  /** Templates that a Job still needs, by hash. */
  templates: Record<string, TranscodeTemplates>;
}

const has = (labels: Record<string, string>, { metadata }: KubeObject): boolean =>
  Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);

export function observedPool(server: Server, observed: Observed, template: string): ObservedPool {
  const ours = selectorOf(server, 'transcode');
  const jobs = childrenOf(observed, 'Job').filter((job) => has(ours, job));
  const pods = observed.pods.filter((pod) => has(ours, pod));
  const { demand, silent, now } = observed;
  return { jobs: poolJobs(jobs, { pods, refusals: observed.refusals }), demand, silent, template, now };
}

export function poolOf(
  server: Server,
  observed: Observed,
  from: { template: string; templates: Record<string, TranscodeTemplates> },
): Pool {
  const state = observedPool(server, observed, from.template);
  const plan = planPool(server.spec.transcode, state);
  const staying = state.jobs.filter(({ name, deleting, template }) => {
    return !deleting && !plan.end.includes(name) && from.templates[template] !== undefined;
  });
  const job = (index: number, hash: string, how: { accelerated: boolean; fallback: boolean }): Manifest<'Job'>[] => {
    const templates = from.templates[hash];
    return templates ? [transcodeJob(server, { index, ...how }, { templates, hash })] : [];
  };
  const jobs = [
    ...staying.flatMap(({ index, template, accelerated, fallback }) => job(index, template, { accelerated, fallback })),
    ...plan.make.flatMap(({ index, accelerated, fallback }) => job(index, from.template, { accelerated, fallback })),
  ];
  const needed = new Set([from.template, ...staying.map(({ template }) => template)]);
  const templates = Object.fromEntries(Object.entries(from.templates).filter(([hash]) => needed.has(hash)));
  return { state, plan, jobs, templates };
}
