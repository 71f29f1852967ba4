// Reads the state of a tuner's pod.
import type { DefaultImages } from '../media-server/desired/images.ts';
import { FINALIZER, type Kube, type KubeObject } from '../runtime/kube.ts';
import { apiAddress } from '../server-api/servers.ts';
import { TUNER_PORT, tunerName } from './desired.ts';
import { TUNER } from './labels.ts';
import { queryTuner } from './query.ts';
import type { ServerTuners } from './server-tuners.ts';
import { tunerTrouble } from './trouble.ts';
import type { ObservedTuner, PodStatus } from './verdicts.ts';

/** A ready pod that misses a request is busy: its last report is valid for this long. */
const BUSY_MS = 30_000;

export interface TunerTools {
  images: DefaultImages;
  servers: ServerTuners;
  /** URL of a tuner's pod; `{name}` and `{namespace}` of the TunerDevice are substituted. */
  tunerUrl?: string;
}

/** By uid, the last report of the pod and its time. */
export type Reports = Map<string, { at: number; pod: PodStatus }>;

export interface Work {
  kube: Kube;
  tools: TunerTools;
  reports: Reports;
  now: Date;
}

/** Requests the state only while the pod is ready. */
export async function observeTuner(object: KubeObject, work: Work): Promise<ObservedTuner> {
  const { kube, reports } = work;
  const { name, namespace = '', uid = '' } = object.metadata;
  const deployment = kube.get('Deployment', namespace, tunerName({ name }));
  const { readyReplicas = 0 } = (deployment?.status ?? {}) as { readyReplicas?: number };
  if (readyReplicas === 0) {
    reports.delete(uid);
    const trouble = tunerTrouble(deployment, kube.list('Pod', namespace, { [TUNER]: name }));
    return { running: false, trouble, pod: undefined, waiting: false };
  }
  const pod = await answerOf(object, work);
  return { running: true, trouble: undefined, pod, waiting: false };
}

async function answerOf({ metadata }: KubeObject, { tools, reports, now }: Work): Promise<PodStatus | undefined> {
  const { name, namespace = '', uid = '' } = metadata;
  const pattern = tools.tunerUrl ?? `http://{name}-tuner.{namespace}.svc:${TUNER_PORT}`;
  const answer = await queryTuner(apiAddress({ name, namespace }, pattern));
  if (answer) reports.set(uid, { at: now.getTime(), pod: answer });
  const last = reports.get(uid);
  return last && now.getTime() - last.at < BUSY_MS ? last.pod : undefined;
}

/** A ready pod that does not respond may record, unless the server knows it. */
export function isRecording(
  { metadata }: KubeObject,
  { running, pod }: ObservedTuner,
  known: Partial<PodStatus> | undefined,
): boolean {
  const recording = known?.recording ?? pod?.recording;
  return recording ?? (running && metadata.finalizers?.includes(FINALIZER) === true);
}
