// Pods that cannot be created, because of a quota, an admission webhook or a missing ServiceAccount. Deployments report this
// in a condition; for Jobs and StatefulSets only Events do.
import type { KubeObject, Reader } from '../runtime/kube.ts';

export const FAILED_CREATE = 'FailedCreate';
/** Reasons of Events while kubelet cannot prepare the sandbox or the volumes of a pod. */
const NOT_STARTED = ['FailedMount', 'FailedAttachVolume', 'FailedMapVolume', 'FailedCreatePodSandBox'];
const KINDS = ['Job', 'StatefulSet', 'Pod'];

interface EventFields {
  message?: string;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  involvedObject?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** The object of the Event, for kinds whose status does not report the failure. */
export function refusedObject(event: KubeObject, reader: Reader): KubeObject | undefined {
  if (![FAILED_CREATE, ...NOT_STARTED].includes(String(event.reason))) return undefined;
  const { kind = '', namespace = '', name = '' } = (event as EventFields).involvedObject ?? {};
  return KINDS.includes(kind) ? reader.get(kind, namespace, name) : undefined;
}

/** Each attempt has another pod name; without it, equal refusals have equal messages. */
const normalized = (message: string): string =>
  message.replace(/^Error creating: /, '').replace(/^pods? "[^"]*" (is|are) /, 'its pod is ');

/** The newest message, by the uid of the Job or StatefulSet. */
export const refusalsIn = (events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  newestMessages(events, [FAILED_CREATE]);

/** Kubelet repeats a warning about every 2 minutes, and every 5 once its limit on Events per pod applies. */
const HOLDS_MS = 6 * 60_000;

/** Warnings of existing pods that may still apply. */
export const warningsAt = (now: Date, events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  warningsSince(now.getTime() - HOLDS_MS, events);

/** Warnings that were repeated after `since`. An unknown time counts as now. */
export const warningsSince = (since: number, events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  newestMessages(
    events.filter((event) => !(Date.parse(timeOf(event)) <= since)),
    NOT_STARTED,
  );

const timeOf = (event: KubeObject): string => {
  const { lastTimestamp, eventTime } = event as EventFields;
  return lastTimestamp ?? eventTime ?? event.metadata.creationTimestamp ?? '';
};

function newestMessages(events: readonly KubeObject[], reasons: readonly string[]): ReadonlyMap<string, string> {
  const failures = events.filter(({ reason, type }) => reasons.includes(String(reason)) && type === 'Warning');
  const sorted = failures.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
  return new Map(
    sorted.map((event) => {
      const { message = '', involvedObject } = event as EventFields;
      return [involvedObject?.uid ?? '', normalized(message)];
    }),
  );
}

/** A message while the object has no pod at all: an Event exists for an hour after its cause ended. */
export function refusedPod(
  object: KubeObject | undefined,
  { refusals, pods }: { refusals: ReadonlyMap<string, string>; pods: readonly KubeObject[] },
): string | undefined {
  const uid = object?.metadata.uid ?? '';
  const refusal = refusals.get(uid);
  const hasPod = pods.some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  if (!object || refusal === undefined || hasPod) return undefined;
  return `no pod of ${object.kind} ${object.metadata.name} can be created: ${refusal} (${FAILED_CREATE})`;
}
