// The pod of a transcode worker; transcode-pool.ts decides how many Jobs there are.
import type { Manifest, PodSpec, PodTemplate, ResourceRequirements } from '../../runtime/manifest.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import type { Server } from '../server.ts';
import { jobAnnotations, jobSpec } from '../transcode-jobs.ts';
import type { NewJob } from '../transcode-pool.ts';
import type { Context } from './context.ts';
import { defined, metaOf } from './meta.ts';
import { foyerPod, metricsPort, metricsProbes, restrictedPod, sized, USER } from './pod.ts';

type Accelerator = NonNullable<MediaServerSpec['transcode']['accelerator']>;

/** An extended resource: its limit equals its request. */
export function acceleratedResources(
  { limits, ...rest }: ResourceRequirements,
  { resourceName, count }: Accelerator,
): ResourceRequirements {
  return { ...rest, limits: { ...limits, [resourceName]: String(count) } };
}

/** Scheduling and groups of the pod: on many nodes only one group may open the device files. */
export const acceleratedPod = ({
  runtimeClassName,
  nodeSelector,
  tolerations,
  supplementalGroups,
}: Accelerator): Partial<PodSpec> =>
  defined({
    runtimeClassName,
    nodeSelector,
    tolerations,
    securityContext: supplementalGroups && { ...restrictedPod(USER), supplementalGroups },
  });

/** Pod templates of the pool's Jobs. */
export interface TranscodeTemplates {
  cpu: PodTemplate;
  accelerated?: PodTemplate;
}

export function transcodePod(context: Context, { accelerated }: { accelerated: boolean }): PodTemplate {
  const { accelerator, priorityClassName, resources } = context.server.spec.transcode;
  const size = resources ?? sized('500m', '512Mi', { cpu: '4', memory: '2Gi' });
  const device = accelerated ? accelerator : undefined;
  return foyerPod(context, {
    component: 'transcode',
    args: ['workers/transcode/main.ts'],
    decodes: true,
    resources: device ? acceleratedResources(size, device) : size,
    ports: [metricsPort],
    probes: metricsProbes,
    pod: defined<Partial<PodSpec>>({
      restartPolicy: 'Never',
      priorityClassName,
      ...(device && acceleratedPod(device)),
    }),
    grace: 30,
  });
}

export const transcodeTemplates = (context: Context): TranscodeTemplates => ({
  cpu: transcodePod(context, { accelerated: false }),
  ...(context.server.spec.transcode.accelerator && { accelerated: transcodePod(context, { accelerated: true }) }),
});

/** A Job is immutable, so it is built again from the templates of its own release. */
export function transcodeJob(
  server: Server,
  job: NewJob,
  from: { templates: TranscodeTemplates; hash: string },
): Manifest<'Job'> {
  const { templates, hash } = from;
  const template = (job.accelerated ? templates.accelerated : undefined) ?? templates.cpu;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metaOf(server, {
      suffix: `transcode-${job.index}`,
      component: 'transcode',
      annotations: jobAnnotations(job, hash),
    }),
    spec: jobSpec(template),
  };
}
