// Background workers, and the speech workers.
import type { Manifest, VolumeMount } from '../../runtime/manifest.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import type { Context } from './context.ts';
import { parserEnvironment, volumesEnvironment } from './environment.ts';
import { volumeSource } from './media.ts';
import { defined, metaOf, selectorOf } from './meta.ts';
import { brandingParts, type FoyerPod, foyerPod, metricsPort, metricsProbes, sized } from './pod.ts';
import { acceleratedPod, acceleratedResources } from './transcode.ts';
import type { Mounted } from './volumes.ts';

function deployment(context: Context, replicas: number, pod: FoyerPod): Manifest<'Deployment'> {
  const { server } = context;
  const { component } = pod;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metaOf(server, { suffix: component, component }),
    spec: {
      replicas,
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selectorOf(server, component) },
      template: foyerPod(context, { ports: [metricsPort], probes: metricsProbes, ...pod }),
    },
  };
}

export function workersDeployment(context: Context): Manifest<'Deployment'> {
  const { server } = context;
  const { replicas, resources } = server.spec.workers;
  const { env, ...branding } = brandingParts(server.spec); // for mail
  return deployment(context, replicas, {
    component: 'workers',
    args: ['workers/main.ts'],
    resources: resources ?? sized('100m', '256Mi', { cpu: '2', memory: '1Gi' }),
    env: { ...parserEnvironment(server), ...volumesEnvironment(server), ...env },
    ...branding,
    grace: 30,
  });
}

type Subtitles = NonNullable<MediaServerSpec['subtitles']>;

const MODELS = '/models';

function modelVolume({ modelVolume: given }: Subtitles): Mounted {
  if (!given) return { volumes: [], mounts: [] };
  const { persistentVolumeClaim: claim } = given;
  const mount = defined<VolumeMount>({ name: 'models', mountPath: MODELS, subPath: claim?.subPath, readOnly: true });
  return { volumes: [{ name: 'models', ...volumeSource(given) }], mounts: [mount] };
}

/** With scaleToZero there are no pods: this version has no speech jobs that could wait. */
const subtitlesReplicas = ({ replicas, scaleToZero }: Subtitles): number => (scaleToZero ? 0 : (replicas ?? 1));

export function subtitlesDeployment(context: Context): Manifest<'Deployment'>[] {
  const { subtitles } = context.server.spec;
  if (!subtitles) return [];
  const { accelerator, model, language } = subtitles;
  const size = sized('250m', '512Mi', { cpu: '4', memory: '4Gi' });
  const pod: FoyerPod = {
    component: 'subtitles',
    args: ['workers/subtitles/main.ts'],
    decodes: true,
    resources: accelerator ? acceleratedResources(size, accelerator) : size,
    env: {
      FOYER_SUBTITLES_MODEL: model,
      ...(language && { FOYER_SUBTITLES_LANGUAGE: language }),
      ...(subtitles.modelVolume && { FOYER_MODELS_DIR: MODELS }),
    },
    ...modelVolume(subtitles),
    ...(accelerator && { pod: acceleratedPod(accelerator) }),
    grace: 30,
  };
  return [deployment(context, subtitlesReplicas(subtitles), pod)];
}
