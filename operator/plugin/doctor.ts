// What hinders a server, and what to do about it. Pure.
import type { KubeObject } from '../runtime/kube.ts';
import type { Condition } from '../schemas/conditions.ts';
import { kinds } from '../schemas/kinds.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import { GROUP } from '../schemas/structural.ts';
import type { Snapshot } from './snapshot.ts';

export interface Finding {
  state: 'ok' | 'warning' | 'fault';
  about: string;
  message: string;
  /** What to do. */
  advice?: string;
}

type Check = (seen: Snapshot) => Finding[];

const ok = (about: string, message: string): Finding => ({ state: 'ok', about, message });
const fault = (about: string, message: string, advice: string): Finding => ({ state: 'fault', about, message, advice });
const warning = (about: string, message: string, advice: string): Finding => ({
  state: 'warning',
  about,
  message,
  advice,
});

const definitions: Check = ({ crds }) => {
  const about = 'CustomResourceDefinitions';
  if (!crds) return [warning(about, 'may not be read', 'ask an admin of the cluster, or go on')];
  const absent = kinds.filter(({ plural }) => !crds.some(({ metadata }) => metadata.name === `${plural}.${GROUP}`));
  if (absent.length === 0) return [ok(about, `all ${kinds.length} are there`)];
  const names = absent.map(({ kind }) => kind).join(', ');
  return [fault(about, `${names} not installed`, 'kubectl apply --server-side -f install.yaml')];
};

const operator: Check = ({ operators, namespace }) => {
  if (!operators?.length) {
    const advice = 'it may run in another: kubectl get deploy -A -l app.kubernetes.io/name=foyer-operator';
    return [warning('operator', `none in namespace ${namespace}`, advice)];
  }
  return operators.map(({ metadata: { name, namespace: at = namespace }, status }) => {
    const { readyReplicas = 0 } = (status ?? {}) as { readyReplicas?: number };
    if (readyReplicas > 0) return ok(`operator ${name}`, `${readyReplicas} ready`);
    return fault(`operator ${name}`, 'no pod is ready', `kubectl logs -n ${at} deploy/${name}`);
  });
};

/** Conditions that say what is wrong by being False, and those that say it by being True. */
const NEGATIVE = ['Degraded', 'Stalled'];
const QUIET = ['NoneAsked', 'Stable', 'AllReady', 'NeverScanned', 'NeverBackedUp'];

function conditionFindings(object: KubeObject): Finding[] {
  const about = `${object.kind} ${object.metadata.name}`;
  const { conditions = [], observedGeneration = 0 } = (object.status ?? {}) as {
    conditions?: Condition[];
    observedGeneration?: number;
  };
  if (conditions.length === 0) return [fault(about, 'nobody has looked at it yet', 'is the operator running?')];
  const stale = observedGeneration < (object.metadata.generation ?? 0);
  const lag = stale ? [warning(about, 'its last change has not been taken up', 'wait, or look at the operator')] : [];
  const bad = conditions.filter(({ type, status, reason }) => {
    if (QUIET.includes(reason) || type === 'Progressing' || type === 'Reconciling') return false;
    return NEGATIVE.includes(type) ? status === 'True' : status !== 'True';
  });
  if (bad.length === 0) return [...lag, ok(about, 'every condition is well')];
  const told = bad.map(({ type, reason, message }): Finding => {
    const state = type === 'Ready' || type === 'Stalled' ? 'fault' : 'warning';
    return { state, about, message: `${type}: ${reason}`, advice: message };
  });
  return [...lag, ...told];
}

const conditions: Check = ({ servers, libraries, tuners }) =>
  [...servers, ...libraries, ...tuners].flatMap(conditionFindings);

interface ContainerStatus {
  name: string;
  restartCount: number;
  state?: { waiting?: { reason?: string; message?: string } };
  lastState?: { terminated?: { reason?: string | undefined; exitCode: number } };
}

interface PodStatus {
  containerStatuses?: ContainerStatus[];
  conditions?: { type: string; status: string; message?: string }[];
}

const pods: Check = (seen) => seen.pods.flatMap(podFindings);

function podFindings({ metadata, status }: KubeObject): Finding[] {
  const about = `pod ${metadata.name}`;
  const { containerStatuses = [], conditions: held = [] } = (status ?? {}) as PodStatus;
  const unplaced = held.find(({ type, status: at }) => type === 'PodScheduled' && at === 'False');
  if (unplaced) return [fault(about, `no node takes it: ${unplaced.message}`, 'free or add what it asks for')];
  return containerStatuses.flatMap((container) => containerFindings(about, metadata.name, container));
}

function containerFindings(about: string, pod: string, container: ContainerStatus): Finding[] {
  const { name, restartCount, state, lastState } = container;
  const { reason, message } = state?.waiting ?? {};
  if (reason === 'ImagePullBackOff' || reason === 'ErrImagePull')
    return [fault(about, `image of ${name}: ${message ?? reason}`, 'check image, registry and imagePullSecrets')];
  if (reason !== 'CrashLoopBackOff') return [];
  const { reason: kind, exitCode } = lastState?.terminated ?? { exitCode: 0 };
  const why = kind ?? `exit ${exitCode}`;
  return [fault(about, `${name} ended ${restartCount} times (${why})`, `kubectl logs ${pod} -c ${name} --previous`)];
}

const claims: Check = ({ claims: all, storageClasses }) => {
  const waiting = all.filter(({ status }) => (status as { phase?: string } | undefined)?.phase === 'Pending');
  const standard = storageClasses?.some(
    ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
  const advice = standard === false ? 'the cluster has no default StorageClass: name one' : 'look at its events';
  return waiting.map(({ metadata }) => fault(`claim ${metadata.name}`, 'it is not bound to a volume', advice));
};

const ingress: Check = ({ servers, ingressClasses }) =>
  servers.flatMap(({ metadata: { name }, spec }) => {
    const wanted = (spec as MediaServerSpec).ingress;
    if (!wanted || !ingressClasses) return [];
    const names = ingressClasses.map(({ metadata }) => metadata.name);
    if (wanted.className ? names.includes(wanted.className) : names.length > 0) return [];
    const message = wanted.className ? `no ingress class ${wanted.className}` : 'the cluster has no ingress class';
    return [fault(`MediaServer ${name}`, message, 'install an ingress controller, or name one of its classes')];
  });

const devices: Check = ({ servers, nodes }) =>
  servers.flatMap(({ metadata: { name }, spec }) => {
    const wanted = (spec as MediaServerSpec).transcode?.accelerator?.resourceName;
    if (!wanted || !nodes) return [];
    const has = nodes.filter(({ status }) =>
      Number((status as { allocatable?: Record<string, string> }).allocatable?.[wanted] ?? 0),
    );
    const about = `MediaServer ${name}`;
    if (has.length > 0) return [ok(about, `${has.length} nodes offer ${wanted}`)];
    return [fault(about, `no node offers ${wanted}`, "install the device plugin of the card's maker")];
  });

const CHECKS: readonly Check[] = [definitions, operator, conditions, pods, claims, ingress, devices];

export const diagnose: Check = (seen) => CHECKS.flatMap((check) => check(seen));

const MARKS = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' };

export function printFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ state, about, message, advice }) => {
    const line = `${MARKS[state]}  ${about}: ${message}`;
    return advice ? [line, `         ${advice}`] : [line];
  });
  return `${lines.join('\n')}\n`;
}
