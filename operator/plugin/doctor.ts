// Finds the problems of servers, with advice. Pure.
import { warningsSince } from '../media-server/refused-pods.ts';
import { isSuspended } from '../media-server/server.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { ContainerStatus, PodStatus } from '../runtime/manifest.ts';
import type { Condition } from '../schemas/conditions.ts';
import { kinds } from '../schemas/kinds.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { GROUP } from '../schemas/structural.ts';
import { serverNameOf } from '../server-api/servers.ts';
import { deniedWords } from './cluster.ts';
import type { Snapshot } from './snapshot.ts';

export interface Finding {
  state: 'ok' | 'warning' | 'fault';
  about: string;
  message: string;
  /** How to fix it. */
  advice?: string;
}

type Check = (observed: Snapshot) => Finding[];

const ok = (about: string, message: string): Finding => ({ state: 'ok', about, message });
const fault = (about: string, message: string, advice: string): Finding => ({ state: 'fault', about, message, advice });
const warning = (about: string, message: string, advice: string): Finding => ({
  state: 'warning',
  about,
  message,
  advice,
});

const INSTALL = 'kubectl apply --server-side -f manifests/install.yaml';

/** Objects that could not be read are reported, so that they do not count as healthy. */
const rights: Check = ({ denied }) =>
  denied.length > 0 ? [warning('rights', deniedWords(denied), 'these objects were not checked')] : [];

const presence: Check = ({ servers, namespace, denied }) => {
  if (servers.length > 0 || denied.some((what) => what.startsWith('list MediaServer'))) return [];
  return [
    warning('MediaServer', `none in namespace ${namespace}`, 'kubectl get mediaservers -A, and -n for another one'),
  ];
};

const definitions: Check = ({ crds }) => {
  const about = 'CustomResourceDefinitions';
  if (!crds) return [];
  const absent = kinds.filter(({ plural }) => !crds.some(({ metadata }) => metadata.name === `${plural}.${GROUP}`));
  if (absent.length === 0) return [ok(about, `all ${kinds.length} are installed`)];
  const names = absent.map(({ kind }) => kind).join(', ');
  return [fault(about, `${names} not installed`, INSTALL)];
};

const operator: Check = ({ operators, namespace, denied }) => {
  if (!operators?.length) {
    const isKnown = !denied.some((what) => what.startsWith('list Deployment'));
    const advice = 'it may run in another one: a user who may list Deployments of all namespaces can find it';
    if (!isKnown) return [warning('operator', `none in namespace ${namespace}`, advice)];
    return [warning('operator', 'no Deployment of it in the cluster', INSTALL)];
  }
  return operators.map(({ metadata: { name, namespace: at = namespace }, status }) => {
    const { readyReplicas = 0 } = (status ?? {}) as { readyReplicas?: number };
    if (readyReplicas > 0) return ok(`operator ${name}`, `${readyReplicas} ready`);
    return fault(`operator ${name}`, 'no pod is ready', `kubectl logs -n ${at} deploy/${name}`);
  });
};

/** Conditions that report a problem when True; the others do so when False. */
const NEGATIVE = ['Degraded', 'Stalled'];
const QUIET = ['NoneAsked', 'Stable', 'AllReady', 'NeverScanned', 'NeverBackedUp'];

function conditionFindings(object: KubeObject, isPaused: boolean): Finding[] {
  const about = `${object.kind} ${object.metadata.name}`;
  const { conditions = [], observedGeneration = 0 } = (object.status ?? {}) as {
    conditions?: Condition[];
    observedGeneration?: number;
  };
  if (conditions.length === 0)
    return [isPaused ? paused(about) : fault(about, 'it has not been reconciled yet', 'is the operator running?')];
  const stale = observedGeneration < (object.metadata.generation ?? 0);
  const late = isPaused ? paused(about) : warning(about, 'its last change has not been reconciled', WAIT);
  const lag = stale ? [late] : [];
  const bad = conditions.filter(({ type, status, reason }) => {
    if (QUIET.includes(reason) || type === 'Progressing' || type === 'Reconciling') return false;
    return NEGATIVE.includes(type) ? status === 'True' : status !== 'True';
  });
  if (bad.length === 0) return [...lag, ok(about, 'all conditions are good')];
  const problems = bad.map(({ type, reason, message }): Finding => {
    const state = type === 'Ready' || type === 'Stalled' ? 'fault' : 'warning';
    return { state, about, message: `${type}: ${reason}`, advice: message };
  });
  return [...lag, ...problems];
}

const WAIT = 'wait, or check the operator';
const paused = (about: string): Finding =>
  warning(about, 'it is not reconciled: its MediaServer is suspended', 'spec.suspend, or foyer.media/reconcile');

const conditions: Check = ({ servers, libraries, tuners }) => {
  const suspended = new Set(servers.filter(isSuspended).map(({ metadata }) => metadata.name));
  const serverOf = (object: KubeObject): string => serverNameOf(object) ?? object.metadata.name;
  return [...servers, ...libraries, ...tuners].flatMap((object) =>
    conditionFindings(object, suspended.has(serverOf(object))),
  );
};

/** Kubelet repeats a warning every few minutes; some clusters keep Events for days. */
const WARNINGS_MS = 3_600_000;

const pods: Check = (observed) => {
  const warnings = warningsSince(observed.takenAt.getTime() - WARNINGS_MS, observed.events);
  return observed.pods.flatMap((pod) => [
    ...podFindings(pod),
    ...notStarted(pod, warnings.get(pod.metadata.uid ?? '')),
  ]);
};

/** Kubelet reports only in Events why a container is not created. */
function notStarted({ metadata: { name }, status }: KubeObject, words: string | undefined): Finding[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (status ?? {}) as PodStatus;
  const isMade = [...initContainerStatuses, ...containerStatuses].every(
    ({ state }) => !UNDER_WAY.slice(1).includes(state?.waiting?.reason ?? ''),
  );
  return words === undefined || isMade ? [] : [fault(`pod ${name}`, words, `kubectl describe pod ${name}`)];
}

function podFindings({ metadata, status }: KubeObject): Finding[] {
  const about = `pod ${metadata.name}`;
  const { initContainerStatuses = [], containerStatuses = [], conditions: held = [] } = (status ?? {}) as PodStatus;
  const unplaced = held.find(({ type, status: at }) => type === 'PodScheduled' && at === 'False');
  if (unplaced)
    return [fault(about, `unschedulable: ${unplaced.message}`, 'free or add the resources that it requests')];
  return [...initContainerStatuses, ...containerStatuses].flatMap((container) =>
    containerFindings(about, metadata.name, container),
  );
}

const IMAGE = ['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'ErrImageNeverPull'];
/** Ordinary reasons for which a container waits. */
const UNDER_WAY = ['', 'ContainerCreating', 'PodInitializing'];
const LOOP = 'CrashLoopBackOff';

function containerFindings(about: string, pod: string, container: ContainerStatus): Finding[] {
  const { name, state } = container;
  const { reason = '', message = reason } = state?.waiting ?? {};
  if (IMAGE.includes(reason))
    return [fault(about, `image of ${name}: ${message}`, 'check image, registry and imagePullSecrets')];
  if (UNDER_WAY.includes(reason)) return [];
  if (reason !== LOOP) return [fault(about, `${name}: ${message}`, `kubectl describe pod ${pod}`)];
  return [fault(about, endsOf(container), `kubectl logs ${pod} -c ${name} --previous`)];
}

function endsOf({ name, restartCount, lastState }: ContainerStatus): string {
  const { reason, exitCode } = lastState?.terminated ?? { exitCode: 0 };
  return `${name} ended ${restartCount} times (${reason ?? `exit ${exitCode}`})`;
}

interface Claiming {
  volumes?: { persistentVolumeClaim?: { claimName: string } }[];
}

/** Only claims that our pods wait for: some storage classes bind a claim with its first pod. */
const claims: Check = ({ claims: all, pods: own, storageClasses }) => {
  const volumes = own.flatMap(({ spec }) => ((spec ?? {}) as Claiming).volumes ?? []);
  const used = new Set(volumes.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName));
  return all
    .filter(({ metadata, status }) => used.has(metadata.name) && (status as { phase?: string })?.phase === 'Pending')
    .map(({ metadata, spec }) =>
      fault(`claim ${metadata.name}`, 'it is not bound to a volume', claimAdvice(spec as ClaimSpec, storageClasses)),
    );
};

interface ClaimSpec {
  storageClassName?: string;
}

function claimAdvice(spec: ClaimSpec | undefined, classes: KubeObject[] | undefined): string {
  const wanted = spec?.storageClassName;
  const isDefault = ({ metadata: { annotations } }: KubeObject): boolean =>
    annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
  if (wanted && classes && !classes.some(({ metadata }) => metadata.name === wanted))
    return `the cluster has no StorageClass ${wanted}: create it, or select another one`;
  if (wanted === undefined && classes && !classes.some(isDefault))
    return 'the cluster has no default StorageClass: select one';
  return 'check its events';
}

const ingress: Check = ({ servers, ingressClasses }) =>
  servers.flatMap(({ metadata: { name }, spec }) => {
    const wanted = (spec as MediaServerSpec).ingress;
    if (!wanted || !ingressClasses) return [];
    const names = ingressClasses.map(({ metadata }) => metadata.name);
    if (wanted.className ? names.includes(wanted.className) : names.length > 0) return [];
    const message = wanted.className ? `no ingress class ${wanted.className}` : 'the cluster has no ingress class';
    return [fault(`MediaServer ${name}`, message, 'install an ingress controller, or select one of its classes')];
  });

const devices: Check = ({ servers, nodes }) =>
  servers.flatMap(({ metadata: { name }, spec }) => {
    const { transcode, subtitles } = spec as Partial<MediaServerSpec>;
    const wanted = [transcode, subtitles].flatMap((part) => part?.accelerator?.resourceName ?? []);
    return nodes ? [...new Set(wanted)].map((resource) => device(`MediaServer ${name}`, resource, nodes)) : [];
  });

function device(about: string, resource: string, nodes: readonly KubeObject[]): Finding {
  const has = nodes.filter(({ status }) =>
    Number((status as { allocatable?: Record<string, string> }).allocatable?.[resource] ?? 0),
  );
  if (has.length > 0) return ok(about, `${has.length} nodes offer ${resource}`);
  return fault(about, `no node offers ${resource}`, 'install the device plugin of the vendor');
}

const CHECKS: readonly Check[] = [rights, definitions, presence, operator, conditions, pods, claims, ingress, devices];

export const diagnose: Check = (observed) => CHECKS.flatMap((check) => check(observed));

const MARKS = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' };

export function printFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ state, about, message, advice }) => {
    const line = `${MARKS[state]}  ${about}: ${message}`;
    return advice ? [line, `         ${advice}`] : [line];
  });
  return `${lines.join('\n')}\n`;
}
