// The pod that every component of Foyer runs in: one image, Pod Security "restricted", a read-only root.
import { decoderEnvironment } from '../../decoder-environment.ts';
import type { MediaServerSpec } from '../../schemas/media-server.ts';
import { declaredSettings } from '../../server-environment.ts';
import type { Context } from './context.ts';
import { type EnvValue, envOf, METRICS_PORT, podChecksum, podEnvironment, SCRATCH } from './environment.ts';
import { mediaClaims, mediaMounts, mediaVolumes } from './media.ts';
import { type Component, defined, nameOf, selectorOf } from './meta.ts';
import { affinityOf } from './one-node.ts';
import { type Mounted, oneVolumePerClaim } from './volumes.ts';

export const CHECKSUM = 'foyer.media/checksum';
/** Also for `latest`, which Kubernetes would pull always: images may have been loaded without a registry. */
export const PULL = 'IfNotPresent';
export const USER = 1000;

export type Resources = MediaServerSpec['workers']['resources'];

export const restrictedPod = (user: number, group?: number): object =>
  defined({
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: group,
    fsGroupChangePolicy: group === undefined ? undefined : 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  });

export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** Requests of CPU and memory, and the most memory and CPU. */
export const sized = (cpu: string, memory: string, most: { cpu: string; memory: string }): object => ({
  requests: { cpu, memory },
  limits: most,
});

export interface FoyerPod {
  component: Component;
  args: string[];
  resources: object;
  env?: Record<string, EnvValue>;
  ports?: object[];
  probes?: Partial<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', object>>;
  /** Volumes and mounts beside /tmp, scratch, the keys and the media. */
  volumes?: object[];
  mounts?: object[];
  /** Further members of the pod's spec. */
  pod?: object;
  /** Seconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Without media: the migration needs none. */
  bare?: boolean;
  /** With no Secret, no volume and no environment but `env`. */
  jailed?: boolean;
  /** Decodes foreign files: told of the stores alone, without the key ring. */
  decodes?: boolean;
}

const BRANDING = '/etc/foyer/branding';

/** spec.branding for those who show or send it, mounted whole, so that a change of the ConfigMap reaches the pods that run. */
export function brandingParts({ branding }: MediaServerSpec): Pick<FoyerPod, 'env' | 'volumes' | 'mounts'> {
  if (!branding) return {};
  const { name } = branding.configMapRef;
  return {
    env: { FOYER_BRANDING_DIR: BRANDING },
    volumes: [{ name: 'branding', configMap: { name, defaultMode: 0o444 } }],
    mounts: [{ name: 'branding', mountPath: BRANDING, readOnly: true }],
  };
}

export const metricsPort = { name: 'metrics', containerPort: METRICS_PORT, protocol: 'TCP' };

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
  return decoderEnvironment(shared, declaredSettings(context.server.spec, context.secrets));
}

/** metadata and spec of a pod template. */
export function foyerPod(context: Context, pod: FoyerPod): { metadata: object; spec: object } {
  const { server, images } = context;
  const { spec } = server;
  const { volumes, mounts } = mountedIn(context, pod);
  const container = defined({
    name: pod.component,
    image: images.foyer,
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
    spec: defined({
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
