import type { Reason, Verdict } from '../schemas/conditions.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { ObservedPool, PoolJob, PoolWorker } from './transcode-pool.ts';

type Transcode = MediaServerSpec['transcode'];
type Judge = (spec: Transcode, observed: Judged) => [Verdict['status'], Reason, string] | undefined;

/** A running worker reports within seconds; pulling its image may take longer. */
const START_MS = 5 * 60_000;

interface Judged {
  now: Date;
  live: PoolJob[];
  workers: readonly PoolWorker[];
}

const off: Judge = ({ max }) => (max === 0 ? ['False', 'NoneAsked', 'spec.transcode.max is 0'] : undefined);

const crashing: Judge = (_, { live, workers }) => {
  const failed = live.find(({ failedAt }) => failedAt);
  if (!failed || workers.length > 0) return undefined;
  return ['False', 'CrashLooping', `Job ${failed.name} failed: check the logs of its pods; it is retried`];
};

/** The Job exists, and its pod cannot be created because of a quota or an admission webhook. */
const refused: Judge = (_, { live, workers }) => {
  const all = live.flatMap((job) => job.refused ?? []);
  const [words] = all;
  if (!words) return undefined;
  if (workers.length === 0) return ['False', 'Refused', words];
  return ['True', 'Refused', `${workers.length} workers run, ${all.length} cannot be created: ${words}`];
};

const unplaced: Judge = (_, { live, workers }) => {
  const pods = live.flatMap(({ pod }) => (pod?.unschedulable === undefined ? [] : [pod]));
  const [pod] = pods;
  if (!pod) return undefined;
  const waits = `pod ${pod.name} is unschedulable: ${pod.unschedulable}`;
  if (workers.length === 0) return ['False', 'Unschedulable', waits];
  return ['True', 'Unschedulable', `${workers.length} workers run, ${pods.length} are unschedulable: ${waits}`];
};

const stuck: Judge = (_, { live, workers }) => {
  const trouble = live.map(({ pod }) => pod?.trouble).find((found) => found !== undefined);
  return trouble && workers.length === 0 ? ['False', trouble.reason, trouble.message] : undefined;
};

const asleep: Judge = ({ warm }, { live, workers }) =>
  warm === 0 && live.length === 0 && workers.length === 0
    ? ['True', 'NoneAsked', 'spec.transcode.warm is 0: a worker starts with the first session']
    : undefined;

const none: Judge = (_, { live, workers, now }) => {
  if (workers.length > 0) return undefined;
  const late = live.find(({ pod }) => pod && now.getTime() - pod.createdAt.getTime() >= START_MS)?.pod;
  if (!late) return ['False', 'Starting', 'no transcode worker has reported yet'];
  return ['False', 'Unavailable', `pod ${late.name} has not reported for 5 minutes: kubectl logs ${late.name}`];
};

const onCpu: Judge = ({ accelerator }, { live, workers }) => {
  const fallen = live.filter(({ fallback }) => fallback).length;
  if (!accelerator || fallen === 0) return undefined;
  const onCpuNow = workers.filter(({ gpu }) => !gpu).length;
  const what = `no ${accelerator.resourceName} was available for 10 s`;
  return ['True', 'FellBackToCPU', `${what}: ${onCpuNow} of ${workers.length} workers encode on the CPU`];
};

/** The pod has the device, and the encoder does not use it. */
const deviceUnused: Judge = ({ accelerator }, { live, workers }) => {
  const given = new Set(live.filter((job) => job.accelerated).map(({ pod }) => pod?.name));
  const lost = workers.find((worker) => given.has(worker.pod) && !worker.gpu);
  if (!accelerator || !lost) return undefined;
  const what = `pod ${lost.pod} has ${accelerator.resourceName}, but ${accelerator.kind} does not encode there`;
  return ['True', 'EncoderUnavailable', `${what}: it uses ${lost.encoder}; check its log and the driver`];
};

const running: Judge = (_, { workers }) => {
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
  return ['True', 'Running', `${workers.length} workers with ${slots} slots`];
};

const CHAIN = [off, crashing, refused, unplaced, stuck, asleep, none, onCpu, deviceUnused, running];

/** The result of the first check of the chain that returns one. */
export function transcodeVerdict(spec: Transcode, { jobs, demand, now }: ObservedPool): Verdict {
  const live = jobs.filter(({ completed, deleting }) => !completed && !deleting);
  if (spec.max > 0 && !demand) {
    const message = 'the server has not reported its transcode workers yet';
    return { type: 'TranscodeReady', status: 'Unknown', reason: 'ServerNotReady', message };
  }
  const observed = { live, workers: demand?.workers ?? [], now };
  for (const judge of CHAIN) {
    const verdict = judge(spec, observed);
    if (verdict) return { type: 'TranscodeReady', status: verdict[0], reason: verdict[1], message: verdict[2] };
  }
  return { type: 'TranscodeReady', status: 'Unknown', reason: 'Starting', message: 'Not judged' };
}
