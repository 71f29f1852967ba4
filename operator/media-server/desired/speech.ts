// The speech workers, which make subtitles; speech-plan.ts decides how many there are, and on which device.
import type { Container, Manifest, PodSpec, Probe, VolumeMount } from '../../runtime/manifest.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import { FALLBACK } from '../transcode-jobs.ts';
import type { Context } from './context.ts';
import { envOf, podEnvironment, SPEECH_PORT } from './environment.ts';
import { volumeSource } from './media.ts';
import { defined, metaOf, selectorOf } from './meta.ts';
import { type FoyerPod, foyerPod, metricsPort, metricsProbes, PULL, restrictedContainer, sized } from './pod.ts';
import { acceleratedPod, acceleratedResources } from './transcode.ts';
import type { Mounted } from './volumes.ts';

type Subtitles = NonNullable<MediaServerSpec['subtitles']>;

const MODELS = '/models';
const component = 'subtitles';

/** Ready once it has loaded the model and heard its sample. */
const readinessProbe: Probe = { httpGet: { path: '/ready', port: 'status' }, periodSeconds: 5, timeoutSeconds: 5 };

function models({ modelVolume, modelObjects }: Subtitles): Mounted {
  if (modelObjects)
    return {
      volumes: [{ name: 'models', emptyDir: {} }],
      mounts: [{ name: 'models', mountPath: MODELS, readOnly: true }],
    };
  if (!modelVolume) return { volumes: [], mounts: [] };
  const subPath = modelVolume.persistentVolumeClaim?.subPath;
  const mount = defined<VolumeMount>({ name: 'models', mountPath: MODELS, subPath, readOnly: true });
  return { volumes: [{ name: 'models', ...volumeSource(modelVolume) }], mounts: [mount] };
}

/** Brings the model from the object store. It gets no other store, and no media. */
function bringsModel(context: Context, { model, modelObjects }: Subtitles): Container[] {
  if (!modelObjects) return [];
  const { server, images } = context;
  const { NODE_ENV, NODE_OPTIONS, FOYER_OBJECTS_URL } = podEnvironment(context);
  const env = {
    ...(NODE_ENV && { NODE_ENV }),
    ...(NODE_OPTIONS && { NODE_OPTIONS }),
    ...(FOYER_OBJECTS_URL && { FOYER_OBJECTS_URL }),
    FOYER_SUBTITLES_MODEL: model,
    FOYER_SUBTITLES_MODEL_PREFIX: modelObjects.prefix,
    FOYER_SUBTITLES_MODEL_SHA256: modelObjects.sha256,
    FOYER_MODELS_DIR: MODELS,
  };
  return [
    {
      name: 'model',
      image: images.foyer,
      imagePullPolicy: server.spec.imagePullPolicy ?? PULL,
      args: ['workers/subtitles/bring-model.ts'],
      env: envOf(env),
      resources: sized('50m', '128Mi', { cpu: '2', memory: '512Mi' }),
      volumeMounts: [
        { name: 'tmp', mountPath: '/tmp' },
        { name: 'models', mountPath: MODELS },
      ],
      securityContext: restrictedContainer,
    },
  ];
}

function speechPod(context: Context, subtitles: Subtitles): FoyerPod {
  const { accelerator, model, language, modelObjects } = subtitles;
  const size = sized('250m', '512Mi', { cpu: '4', memory: '4Gi' });
  const device = context.speech.fallback === undefined ? accelerator : undefined;
  const initContainers = bringsModel(context, subtitles);
  return {
    component,
    image: context.images.subtitles,
    args: ['workers/subtitles/main.ts'],
    decodes: true,
    resources: device ? acceleratedResources(size, device) : size,
    env: {
      FOYER_PORT: String(SPEECH_PORT),
      FOYER_SUBTITLES_MODEL: model,
      FOYER_SUBTITLES_DEVICE: device ? 'auto' : 'cpu',
      FOYER_MODELS_DIR: MODELS,
      ...(language && { FOYER_SUBTITLES_LANGUAGE: language }),
      ...(modelObjects && { FOYER_SUBTITLES_MODEL_SHA256: modelObjects.sha256 }),
    },
    ports: [{ name: 'status', containerPort: SPEECH_PORT, protocol: 'TCP' }, metricsPort],
    probes: { ...metricsProbes, readinessProbe },
    ...models(subtitles),
    pod: defined<Partial<PodSpec>>({
      ...(device && acceleratedPod(device)),
      initContainers: initContainers.length > 0 ? initContainers : undefined,
    }),
    grace: 30,
  };
}

/** A worker ends before its successor starts: both may need the same GPU, and its work goes on at the last checkpoint. */
export function subtitlesDeployment(context: Context): Manifest<'Deployment'>[] {
  const { server, speech } = context;
  const { subtitles } = server.spec;
  if (!subtitles) return [];
  const annotations = speech.fallback === undefined ? {} : { [FALLBACK]: speech.fallback };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metaOf(server, { suffix: component, component, annotations }),
      spec: {
        replicas: speech.replicas,
        revisionHistoryLimit: 3,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
        selector: { matchLabels: selectorOf(server, component) },
        template: foyerPod(context, speechPod(context, subtitles)),
      },
    },
  ];
}
