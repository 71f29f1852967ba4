// The pod of every component of Foyer: one image, Pod Security "restricted", a read-only root file system.
import { decoderEnvironment } from '../../decoder-environment.ts';
import type {
  Container,
  ContainerPort,
  PodSecurityContext,
  PodSpec,
  PodTemplate,
  Probe,
  ResourceRequirements,
  SecurityContext,
  Volume,
  VolumeMount,
} from '../../runtime/manifest.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import { declaredSettings } from '../../server-environment.ts';
import type { Context } from './context.ts';
import {
  type EnvValue,
  envOf,
  METRICS_PORT,
  podChecksum,
  podEnvironment,
  relayEnvironment,
  SCRATCH,
} from './environment.ts';
import { mediaClaims, mediaMounts, mediaVolumes } from './media.ts';
import { type Component, defined, nameOf, selectorOf } from './meta.ts';
import { affinityOf } from './one-node.ts';
import { type Mounted, oneVolumePerClaim } from './volumes.ts';

export const CHECKSUM = 'foyer.media/checksum';
/** Also for `latest`, whose default would be Always: images may have been loaded without a registry. */
export const PULL = 'IfNotPresent';
export const USER = 1000;

export const restrictedPod = (user: number, group?: number): PodSecurityContext =>
  defined({
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: group,
    fsGroupChangePolicy: group === undefined ? undefined : 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  });

export const restrictedContainer: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** Requests of CPU and memory, and the limits. */
export const sized = (cpu: string, memory: string, most: { cpu: string; memory: string }): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: most,
});

export interface FoyerPod {
  component: Component;
  /** Default: the product's. */
  image?: string;
  args: string[];
  resources: ResourceRequirements;
  env?: Record<string, EnvValue>;
  ports?: ContainerPort[];
  probes?: Partial<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>>;
  /** Volumes and mounts in addition to /tmp, scratch, the keys and the media. */
  volumes?: Volume[];
  mounts?: VolumeMount[];
  /** Further fields of the pod spec. */
  pod?: Partial<PodSpec>;
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Without media, which the migration does not need. */
  bare?: boolean;
  /** With no Secret, no volume and no environment but `env`. */
  jailed?: boolean;
  /** Decodes media files: gets the stores only, without the key ring. */
  decodes?: boolean;
}

const BRANDING = '/etc/foyer/branding';

/** spec.branding for components that show or send it. The whole ConfigMap is mounted, so that changes reach running pods. */
export function brandingParts({ branding }: MediaServerSpec): Pick<FoyerPod, 'env' | 'volumes' | 'mounts'> {
  if (!branding) return {};
  const { name } = branding.configMapRef;
  return {
    env: { FOYER_BRANDING_DIR: BRANDING },
    volumes: [{ name: 'branding', configMap: { name, defaultMode: 0o444 } }],
    mounts: [{ name: 'branding', mountPath: BRANDING, readOnly: true }],
  };
}

export const metricsPort: ContainerPort = { name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' };

/** The event loop turns: the process answers on its metrics port. */
export const metricsProbes = {
  startupProbe: { httpGet: { path: '/live', port: 'metrics' }, periodSeconds: 2, failureThreshold: 60 },
  livenessProbe: {
    httpGet: { path: '/live', port: 'metrics' },
    periodSeconds: 20,
    timeoutSeconds: 5,
    failureThreshold: 3,
  },
};

function mountedIn(
  { server }: Context,
  { volumes = [], mounts = [], bare, jailed, decodes }: FoyerPod,
): Partial<Mounted> {
  if (jailed) return {};
  const keys = { name: 'keys', secret: { secretName: nameOf(server, 'keys'), defaultMode: 0o444 } };
  return oneVolumePerClaim({
    volumes: [
      { name: 'tmp', emptyDir: {} },
      { name: 'scratch', emptyDir: {} },
      ...(decodes ? [] : [keys]),
      ...(bare ? [] : mediaVolumes(server.spec)),
      ...volumes,
    ],
    mounts: [
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'scratch', mountPath: SCRATCH },
      ...(decodes ? [] : [{ name: 'keys', mountPath: '/etc/foyer/keys', readOnly: true }]),
      ...(bare ? [] : mediaMounts(server.spec)),
      ...mounts,
    ],
  });
}

function environmentOf(context: Context, { jailed, decodes }: FoyerPod): Record<string, EnvValue> {
  if (jailed) return {};
  const shared = podEnvironment(context);
  if (!decodes) return shared;
  const { server, secrets } = context;
  return { ...decoderEnvironment(shared, declaredSettings(server.spec, secrets)), ...relayEnvironment(server) };
}

/** Metadata and spec of a pod template. */
export function foyerPod(context: Context, pod: FoyerPod): PodTemplate {
  const { server, images } = context;
  const { spec } = server;
  const { volumes, mounts } = mountedIn(context, pod);
  const container = defined<Container>({
    name: pod.component,
    image: pod.image ?? images.foyer,
    imagePullPolicy: spec.imagePullPolicy ?? PULL,
    args: pod.args,
    env: envOf({ ...environmentOf(context, pod), ...pod.env }),
    ports: pod.ports,
    resources: pod.resources,
    ...pod.probes,
    volumeMounts: mounts,
    securityContext: restrictedContainer,
  });
  return {
    metadata: {
      labels: selectorOf(server, pod.component),
      ...(!pod.jailed && { annotations: { [CHECKSUM]: podChecksum(context) } }),
    },
    spec: defined<PodSpec>({
      serviceAccountName: server.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: pod.grace,
      imagePullSecrets: spec.imagePullSecrets,
      securityContext: restrictedPod(USER),
      containers: [container],
      volumes,
      affinity: affinityOf(volumes ?? [], { server, oneNode: context.oneNode, media: mediaClaims(spec) }),
      ...pod.pod,
    }),
  };
}
