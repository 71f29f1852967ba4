// Pods that the cluster does not let be made: by a quota, an admission, a ServiceAccount that is gone. Deployments tell it in a
// condition; of Jobs and StatefulSets nothing but Events do.
import type { KubeObject, Reader } from '../runtime/kube.ts';

export const FAILED_CREATE = 'FailedCreate';
/** Said of a pod while kubelet cannot make its sandbox or its volumes ready. */
const NOT_STARTED = ['FailedMount', 'FailedAttachVolume', 'FailedMapVolume', 'FailedCreatePodSandBox'];
const TELLING = ['Job', 'StatefulSet', 'Pod'];

interface Said {
  message?: string;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  involvedObject?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** What the Event is about, where it is of a kind whose status does not say so. */
export function refusedObject(event: KubeObject, reader: Reader): KubeObject | undefined {
  if (![FAILED_CREATE, ...NOT_STARTED].includes(String(event.reason))) return undefined;
  const { kind = '', namespace = '', name = '' } = (event as Said).involvedObject ?? {};
  return TELLING.includes(kind) ? reader.get(kind, namespace, name) : undefined;
}

/** Each try names its pod anew: the same refusal reads the same. */
const sameWords = (message: string): string =>
  message.replace(/^Error creating: /, '').replace(/^pods? "[^"]*" (is|are) /, 'its pod is ');

/** The newest words, by the uid of the Job or StatefulSet. */
export const refusalsIn = (events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  newestWords(events, [FAILED_CREATE]);

/** Kubelet repeats a warning while it holds: every 2 minutes or so, and every 5 once its limit on Events of one pod applies. */
const HOLDS_MS = 6 * 60_000;

/** Those that may still hold. */
export const warningsAt = (now: Date, events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  warningsSince(now.getTime() - HOLDS_MS, events);

/** Those that were repeated after `since`. An Event without a time counts as one of now. */
export const warningsSince = (since: number, events: readonly KubeObject[]): ReadonlyMap<string, string> =>
  newestWords(
    events.filter((event) => !(Date.parse(saidAt(event)) <= since)),
    NOT_STARTED,
  );

const saidAt = (event: KubeObject): string => {
  const { lastTimestamp, eventTime } = event as Said;
  return lastTimestamp ?? eventTime ?? event.metadata.creationTimestamp ?? '';
};

function newestWords(events: readonly KubeObject[], reasons: readonly string[]): ReadonlyMap<string, string> {
  const failures = events.filter(({ reason, type }) => reasons.includes(String(reason)) && type === 'Warning');
  const sorted = failures.toSorted((one, other) => (saidAt(one) < saidAt(other) ? -1 : 1));
  return new Map(
    sorted.map((event) => {
      const { message = '', involvedObject } = event as Said;
      return [involvedObject?.uid ?? '', sameWords(message)];
    }),
  );
}

/** In words, while the object has no pod at all: an Event outlives what it tells of by an hour. */
export function refusedPod(
  object: KubeObject | undefined,
  { refusals, pods }: { refusals: ReadonlyMap<string, string>; pods: readonly KubeObject[] },
): string | undefined {
  const uid = object?.metadata.uid ?? '';
  const words = refusals.get(uid);
  const made = pods.some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  if (!object || words === undefined || made) return undefined;
  return `no pod of ${object.kind} ${object.metadata.name} can be made: ${words} (${FAILED_CREATE})`;
}
