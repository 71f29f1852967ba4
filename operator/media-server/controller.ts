// The watches of the controller: which changes trigger which server.
import { fresh } from '../keys.ts';
import { referencesIn } from '../references.ts';
import { type Controller, GROUP_VERSION, type Key, type KubeObject, type Reader, type Watch } from '../runtime/kube.ts';
import { BucketsOfServers } from './buckets.ts';
import { DeclaredOfServers } from './declared.ts';
import { POD_LABELS } from './desired/meta.ts';
import { Probes } from './observe.ts';
import { type MediaServerTools, reconcileMediaServer } from './reconcile.ts';
import { refusedObject } from './refused-pods.ts';
import { querySpeechPod, SpeechProbes } from './speech-probes.ts';

const keyOf = ({ metadata }: KubeObject): Key => ({ namespace: metadata.namespace ?? '', name: metadata.name });

const INSTANCE = 'app.kubernetes.io/instance';

/** By the labels of every object of a server: kept objects and pods have another owner, or none. */
function byInstance({ metadata }: KubeObject): Key[] {
  const name = metadata.labels?.[INSTANCE];
  return name && metadata.labels?.['app.kubernetes.io/name'] === 'foyer'
    ? [{ namespace: metadata.namespace ?? '', name }]
    : [];
}

/** Servers whose spec references the object. */
const byReference =
  (of: 'Secret' | 'ConfigMap') =>
  (object: KubeObject, reader: Reader): Key[] => {
    const { namespace = '', name } = object.metadata;
    const users = reader.list('MediaServer', namespace).filter(({ metadata, spec }) => {
      const made = of === 'Secret' && name === `${metadata.name}-postgres-app`; // created by CloudNativePG
      return made || referencesIn(spec, ['spec']).some((ref) => ref.of === of && ref.name === name);
    });
    return [...byInstance(object), ...users.map(keyOf)];
  };

function byClaim({ metadata }: KubeObject, reader: Reader): Key[] {
  const users = reader.list('MediaServer', metadata.namespace ?? '').filter(({ spec }) => {
    return JSON.stringify(spec ?? {}).includes(`"claimName":${JSON.stringify(metadata.name)}`);
  });
  return users.map(keyOf);
}

function byServer({ metadata, spec }: KubeObject): Key[] {
  const { serverRef } = (spec ?? {}) as { serverRef?: { name?: string } };
  return serverRef?.name ? [{ namespace: metadata.namespace ?? '', name: serverRef.name }] : [];
}

/** A pod that cannot be created triggers the server whose Job or StatefulSet owns it. */
function byRefused(event: KubeObject, reader: Reader): Key[] {
  const object = refusedObject(event, reader);
  return object ? byInstance(object) : [];
}

/** Libraries and tuners are only counted: their creation and deletion matters, not their state. */
function counted(): NonNullable<Watch['keys']> {
  const known = new Set<string>();
  return (object, reader) => {
    const { namespace = '', name, uid = '' } = object.metadata;
    const there = reader.get(object.kind, namespace, name) !== undefined;
    if (there && known.has(uid)) return [];
    if (there) known.add(uid);
    else known.delete(uid);
    return byServer(object);
  };
}

const watches = (): readonly Watch[] => [
  { apiVersion: 'apps/v1', kind: 'Deployment', keys: byInstance },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', keys: byInstance },
  { apiVersion: 'batch/v1', kind: 'Job', keys: byInstance },
  { apiVersion: 'v1', kind: 'Pod', keys: byInstance, labels: POD_LABELS },
  { apiVersion: 'v1', kind: 'Event', keys: byRefused, fields: { type: 'Warning' } },
  { apiVersion: 'v1', kind: 'Secret', keys: byReference('Secret') },
  { apiVersion: 'v1', kind: 'ConfigMap', keys: byReference('ConfigMap') },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', keys: byClaim },
  { apiVersion: 'v1', kind: 'Service', keys: byInstance },
  { apiVersion: 'v1', kind: 'ServiceAccount', keys: byInstance },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', keys: byInstance },
  { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', keys: byInstance },
  { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', keys: byInstance },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', keys: byInstance },
  { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', keys: byInstance, optional: true },
  { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', keys: byInstance, optional: true },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor', keys: byInstance, optional: true },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', keys: byInstance, optional: true },
  { apiVersion: GROUP_VERSION, kind: 'Library', keys: counted() },
  { apiVersion: GROUP_VERSION, kind: 'TunerDevice', keys: counted() },
];

export function mediaServerController(
  given: Pick<MediaServerTools, 'images' | 'clusterNetworks' | 'connect'> & Partial<MediaServerTools>,
): Controller {
  const speech = { speech: new SpeechProbes(), querySpeech: querySpeechPod };
  const own = {
    ...{ fresh, probes: new Probes(), declared: new DeclaredOfServers(), buckets: new BucketsOfServers() },
    ...speech,
  };
  const tools: MediaServerTools = { ...own, ...given };
  return {
    kind: 'MediaServer',
    watches: watches(),
    reconcile: (key, kube, now) => reconcileMediaServer(key, kube, { now, tools }),
  };
}
