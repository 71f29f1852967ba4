// Background jobs, and the speech model.
import type { KubeObject } from '../../runtime/kube.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import type { Context } from './context.ts';
import { parserEnvironment, volumesEnvironment } from './environment.ts';
import { defined, metaOf, selectorOf } from './meta.ts';
import { brandingParts, type FoyerPod, foyerPod, metricsPort, metricsProbes, sized } from './pod.ts';
import { acceleratedPod, acceleratedResources } from './transcode.ts';

function deployment(context: Context, replicas: number, pod: FoyerPod): KubeObject {
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

export function workersDeployment(context: Context): KubeObject {
  const { server } = context;
  const { replicas, resources } = server.spec.workers;
  const { env, ...branding } = brandingParts(server.spec); // mails show it
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

function modelVolume({ modelVolume: given }: Subtitles): { volumes: object[]; mounts: object[] } {
  if (!given) return { volumes: [], mounts: [] };
  const { persistentVolumeClaim: claim, nfs, hostPath } = given;
  const kept = claim ? { persistentVolumeClaim: { claimName: claim.claimName } } : undefined;
  const source = kept ?? (nfs ? { nfs: defined(nfs) } : { hostPath: defined(hostPath ?? {}) });
  const mount = defined({ name: 'models', mountPath: MODELS, subPath: claim?.subPath, readOnly: true });
  return { volumes: [{ name: 'models', ...source }], mounts: [mount] };
}

/** With scaleToZero there is none until something waits; nothing can wait before the speech workers are part of the server. */
const subtitlesReplicas = ({ replicas, scaleToZero }: Subtitles): number => (scaleToZero ? 0 : (replicas ?? 1));

export function subtitlesDeployment(context: Context): KubeObject[] {
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
