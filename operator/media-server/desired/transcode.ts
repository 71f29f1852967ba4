// The pod of a transcode worker; how many Jobs there are is the pool's to say.
import type { KubeObject } from '../../runtime/kube.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import type { Server } from '../server.ts';
import { jobAnnotations, jobSpec } from '../transcode-jobs.ts';
import type { NewJob } from '../transcode-pool.ts';
import type { Context } from './context.ts';
import { defined, metaOf } from './meta.ts';
import { foyerPod, metricsPort, metricsProbes, restrictedPod, sized, USER } from './pod.ts';

type Accelerator = NonNullable<MediaServerSpec['transcode']['accelerator']>;

/** An extended resource: request and limit are one number. */
export function acceleratedResources(base: object, { resourceName, count }: Accelerator): object {
  const { limits, ...rest } = base as { limits?: object };
  return { ...rest, limits: { ...limits, [resourceName]: String(count) } };
}

/** Where such a pod may run, and as whom: device files of many nodes are for a group of theirs alone. */
export const acceleratedPod = ({
  runtimeClassName,
  nodeSelector,
  tolerations,
  supplementalGroups,
}: Accelerator): object =>
  defined({
    runtimeClassName,
    nodeSelector,
    tolerations,
    securityContext: supplementalGroups && { ...restrictedPod(USER), supplementalGroups },
  });

/** Templates of the pool's Jobs. */
export interface TranscodeTemplates {
  cpu: object;
  accelerated?: object;
}

export function transcodePod(context: Context, { accelerated }: { accelerated: boolean }): object {
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
    pod: defined({ restartPolicy: 'Never', priorityClassName, ...(device && acceleratedPod(device)) }),
    grace: 30,
  });
}

export const transcodeTemplates = (context: Context): TranscodeTemplates => ({
  cpu: transcodePod(context, { accelerated: false }),
  ...(context.server.spec.transcode.accelerator && { accelerated: transcodePod(context, { accelerated: true }) }),
});

/** A Job once made stays as it is: it is built again from the templates of its own release. */
export function transcodeJob(
  server: Server,
  job: NewJob,
  from: { templates: TranscodeTemplates; hash: string },
): KubeObject {
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
