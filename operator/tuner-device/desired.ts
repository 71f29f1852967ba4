// The objects of a TunerDevice: one pod that connects to the device, and its Service. Pure.
import { type Context, fingerprint } from '../media-server/desired/context.ts';
import { envOf, METRICS_PORT } from '../media-server/desired/environment.ts';
import type { DefaultImages } from '../media-server/desired/images.ts';
import { imagesOf } from '../media-server/desired/images.ts';
import { mediaClaims, mediaMounts, mediaVolumes } from '../media-server/desired/media.ts';
import { defined, selectorOf } from '../media-server/desired/meta.ts';
import { OPERATOR } from '../media-server/desired/network-policies.ts';
import { affinityOf } from '../media-server/desired/one-node.ts';
import { CHECKSUM, metricsPort, PULL, restrictedContainer, restrictedPod, sized } from '../media-server/desired/pod.ts';
import { type Mounted, oneVolumePerClaim } from '../media-server/desired/volumes.ts';
import { digest } from '../runtime/canonical.ts';
import type {
  Container,
  EnvVar,
  Manifest,
  NetworkPolicyPeer,
  ObjectMeta,
  PodSpec,
  PodTemplate,
  Volume,
  VolumeSource,
} from '../runtime/manifest.ts';
import { amountOf } from '../runtime/quantity.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { TunerDeviceSpec } from '../schemas/tuner-device.ts';
import { tunerEnvironment, urlRefs } from './environment.ts';
import { TUNER } from './labels.ts';
import { readingPolicy } from './reading.ts';
import type { Stores } from './stores.ts';

export const TUNER_PORT = 8081;
/** Digest of the pod template, to detect a change that would replace the pod. */
export const TEMPLATE = 'foyer.media/template';
const USER = 1000;
const GRACE_SECONDS = 30;
/** The rest is for segments that are not uploaded yet. */
const LEAVE_SECONDS = 18;
/** The process accepts no less. */
const SPACE_MIN = 1 << 20;
const TIMESHIFT = { name: 'timeshift', mountPath: '/timeshift' };
/** Private networks, where tuners usually are. */
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** Includes the metadata services of clouds, which issue credentials of the node. */
const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10'];

export interface Tuner {
  name: string;
  namespace: string;
  spec: TunerDeviceSpec;
  server: { name: string; spec: MediaServerSpec };
  images: DefaultImages;
  /** Referenced values, and the server's key ring: only a keyed digest of them is written. */
  secrets: Context['secrets'];
  /** Claims that only one node at a time can mount. */
  oneNode: Context['oneNode'];
  /** Its tuner in the server, and the stores of the server; without them the pod reports the device's state only. */
  row?: { id: string; stores: Stores } | undefined;
}

export const tunerName = ({ name }: Pick<Tuner, 'name'>): string => `${name}-tuner`;

/** Selects the pod of this device. The labels of the server are included, so that its policies apply. */
const selector = ({ name, server }: Tuner): Record<string, string> => ({
  ...selectorOf(server),
  'app.kubernetes.io/component': 'tuner',
  [TUNER]: name,
});

const meta = (tuner: Tuner, annotations?: Record<string, string>): ObjectMeta => ({
  name: tunerName(tuner),
  namespace: tuner.namespace,
  labels: selector(tuner),
  ...(annotations && { annotations }),
});

export function tunerObjects(tuner: Tuner): Manifest<'Deployment' | 'Service' | 'NetworkPolicy'>[] {
  const { enabled } = tuner.server.spec.networkPolicy;
  const own = enabled && !tuner.spec.hostNetwork ? [networkPolicy(tuner)] : [];
  return [deployment(tuner), service(tuner), ...own, ...(enabled ? readingPolicy(tuner, meta(tuner)) : [])];
}

function deployment(tuner: Tuner): Manifest<'Deployment'> {
  const template = podTemplate(tuner);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta(tuner, { [TEMPLATE]: digest(template) }),
    spec: {
      replicas: 1,
      // Two pods would both open the device.
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 3,
      selector: { matchLabels: selector(tuner) },
      template,
    },
  };
}

const service = (tuner: Tuner): Manifest<'Service'> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta(tuner),
  spec: {
    type: 'ClusterIP',
    selector: selector(tuner),
    ports: [{ name: 'status', protocol: 'TCP', port: TUNER_PORT, targetPort: 'status' }],
  },
});

function podTemplate(tuner: Tuner): PodTemplate {
  const { spec, server, secrets } = tuner;
  const { hostNetwork } = spec;
  const values = urlRefs(spec).map(({ ref }) => secrets.get(ref.name)?.[ref.key]);
  const network: Partial<PodSpec> = hostNetwork ? { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } : {};
  return {
    metadata: { labels: selector(tuner), annotations: { [CHECKSUM]: fingerprint(server, secrets, values) } },
    spec: defined({
      serviceAccountName: server.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      imagePullSecrets: server.spec.imagePullSecrets,
      nodeSelector: spec.nodeSelector,
      ...network,
      securityContext: restrictedPod(USER, USER),
      containers: [container(tuner)],
      volumes: [{ name: 'tmp', emptyDir: {} }, ...storage(tuner).volumes],
      affinity: affinityOf(recordingVolumes(tuner), {
        server,
        oneNode: tuner.oneNode,
        media: mediaClaims(server.spec),
      }),
    }),
  };
}

function container(tuner: Tuner): Container {
  const { spec, server, images } = tuner;
  const probe = { httpGet: { path: '/live', port: 'status' } };
  return defined({
    name: 'tuner',
    image: imagesOf(server.spec, images).foyer,
    imagePullPolicy: server.spec.imagePullPolicy ?? PULL,
    args: ['workers/tuner/main.ts'],
    env: environment(tuner),
    ports: [{ name: 'status', containerPort: TUNER_PORT, protocol: 'TCP' }, metricsPort],
    resources: spec.resources ?? sized('50m', '128Mi', { cpu: '2', memory: '1Gi' }),
    startupProbe: { ...probe, periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...probe, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: '/ready', port: 'status' }, periodSeconds: 5, timeoutSeconds: 5 },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }, ...storage(tuner).mounts],
    securityContext: restrictedContainer,
  });
}

/** URLs in Secrets are passed by reference: the URL of a playlist often contains a credential. */
function environment({ spec, server, row }: Tuner): EnvVar[] {
  const refs = urlRefs(spec).map(({ variable, ref }) => [variable, { name: ref.name, key: ref.key }] as const);
  const own = envOf({
    ...tunerEnvironment(spec, server.spec),
    FOYER_HOST: '0.0.0.0',
    FOYER_PORT: String(TUNER_PORT),
    FOYER_METRICS_PORT: String(METRICS_PORT),
    ...(row && { FOYER_TUNER_ID: row.id, FOYER_TUNER_SPACE: TIMESHIFT.mountPath, ...spaceOf(spec), ...leaveOf(spec) }),
    ...Object.fromEntries(refs),
  });
  const named = new Set(own.map(({ name }) => name));
  const stores = (row?.stores.env ?? []).filter(({ name }) => !named.has(name));
  return [...own, ...stores].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Nine tenths of a limited volume: a pod that exceeds the limit is evicted. */
function spaceOf({ timeshift }: TunerDeviceSpec): Record<string, string> {
  const limit = amountOf(timeshift.storage?.emptyDir?.sizeLimit);
  return limit === undefined ? {} : { FOYER_TUNER_SPACE_BYTES: String(Math.max(SPACE_MIN, Math.floor(limit * 0.9))) };
}

/** The pod of a claim ends at once: the next one has the same space. */
const leaveOf = ({ timeshift }: TunerDeviceSpec): Record<string, string> =>
  timeshift.storage?.persistentVolumeClaim ? {} : { FOYER_TUNER_LEAVE_SECONDS: String(LEAVE_SECONDS) };

const recordingVolumes = ({ spec, server }: Tuner): Volume[] =>
  mediaVolumes({ ...server.spec, media: server.spec.media.filter(({ name }) => name === spec.recordings?.media) });

function storage({ spec, server, row }: Tuner): Mounted {
  const { emptyDir, persistentVolumeClaim } = spec.timeshift.storage ?? {};
  const source: VolumeSource = persistentVolumeClaim
    ? { persistentVolumeClaim }
    : { emptyDir: defined(emptyDir ?? {}) };
  const media = server.spec.media.filter(({ name }) => name === spec.recordings?.media);
  const recordings = { ...server.spec, media };
  return oneVolumePerClaim({
    volumes: [{ name: TIMESHIFT.name, ...source }, ...mediaVolumes(recordings), ...(row?.stores.volumes ?? [])],
    mounts: [TIMESHIFT, ...mediaMounts(recordings), ...(row?.stores.mounts ?? [])],
  });
}

/**
 * The server's policies deny all other connections. This one allows the operator's status requests, and connections to the
 * device and the guide.
 */
function networkPolicy(tuner: Tuner): Manifest<'NetworkPolicy'> {
  const { live } = tuner.server.spec.network.allow;
  const networks = ['0.0.0.0/0', '::/0'].map(
    (cidr): NetworkPolicyPeer => ({ ipBlock: { cidr, except: except(cidr, live) } }),
  );
  const opened = live.map((cidr) => ({ ipBlock: { cidr } }));
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: meta(tuner),
    spec: {
      podSelector: { matchLabels: selector(tuner) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [OPERATOR], ports: [{ protocol: 'TCP', port: TUNER_PORT }] }],
      egress: [{ to: [...networks, ...opened] }],
    },
  };
}

/** Private networks are allowed until the server names specific ones; link-local networks never are. */
function except(cidr: string, live: readonly string[]): string[] {
  const closed = [...LINK_LOCAL, ...(live.length === 0 ? [] : PRIVATE)];
  return closed.filter((range) => range.includes(':') === cidr.includes(':'));
}
