// The reports of the speech workers as a number of workers, a verdict and a status, for pods and for processes. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import type { MediaServerSpec, MediaServerStatus } from '../schemas/media-server.ts';
import type { SpeechReport } from './worker.ts';

export type Subtitles = NonNullable<MediaServerSpec['subtitles']>;

/** A worker that answers, with the name of its pod or process. */
export type NamedReport = SpeechReport & { pod: string };

export interface ObservedSpeech {
  /** Requests that want a worker now; undefined while the server does not report them. */
  waiting: number | undefined;
  /** Milliseconds without such a request. */
  idleMs: number;
  /** The workers that answer. */
  workers: readonly NamedReport[];
}

/**
 * `running` is the number of now. Demand that is unknown changes nothing. A worker without a model stays, so that it finds one
 * that was mended, and so that the condition goes on to report the fault.
 */
export function speechReplicas(
  { replicas, scaleToZero, idleSeconds }: Pick<Subtitles, 'replicas' | 'scaleToZero' | 'idleSeconds'>,
  { waiting, idleMs, workers }: ObservedSpeech,
  running: number,
): number {
  if (!scaleToZero) return replicas ?? 1;
  if (waiting !== undefined && waiting > 0) return 1;
  const isStuck = workers.some(({ state }) => state === 'unavailable');
  if (waiting === 0 && idleMs >= idleSeconds * 1000 && !isStuck) return 0;
  return Math.min(running, 1);
}

const isReady = ({ state }: NamedReport): boolean => state === 'ready';

/** `why` says why they do not use the GPU; `where` is the word for a worker's place, such as pod. */
export function readyVerdict(
  workers: readonly NamedReport[],
  { why, where }: { why: string | undefined; where: string },
): Omit<Verdict, 'type'> | undefined {
  const ready = workers.filter(isReady);
  const [first] = ready;
  if (!first) return undefined;
  const fallen = ready.find(({ fellBack }) => fellBack);
  const fell = fallen ? `${where} ${fallen.pod}: ${fallen.message || 'the GPU does not run the model'}` : why;
  const what = `${ready.length === 1 ? '1 worker has' : `${ready.length} workers have`} loaded model ${first.model}`;
  const on = first.device === 'gpu' ? 'GPU' : 'CPU';
  if (fell === undefined) return { status: 'True', reason: 'Running', message: `${what} on the ${on}` };
  return { status: 'True', reason: 'FellBackToCPU', message: `${fell}: ${what} on the ${on}` };
}

/** Reasons that a worker reports, as those of the condition. */
const REASONS = {
  'model-missing': 'ModelMissing',
  'model-invalid': 'ModelInvalid',
  'sample-failed': 'ModelInvalid',
} as const;
const isKnown = (reason: string): reason is keyof typeof REASONS => Object.hasOwn(REASONS, reason);

export function unavailableVerdict(workers: readonly NamedReport[], where: string): Omit<Verdict, 'type'> | undefined {
  const worker = workers.find(({ state }) => state === 'unavailable');
  if (!worker) return undefined;
  const reason = isKnown(worker.reason) ? REASONS[worker.reason] : 'Unavailable';
  const message = `${where} ${worker.pod}: ${worker.message || worker.reason || 'it cannot load the model'}`;
  return { status: 'False', reason, message };
}

/** The content of status.subtitles. */
export function speechStatus(
  subtitles: Subtitles | undefined,
  { workers, waiting }: Pick<ObservedSpeech, 'workers' | 'waiting'>,
): Pick<MediaServerStatus, 'subtitles'> {
  if (!subtitles) return {};
  const ready = workers.filter(isReady);
  const [first] = ready;
  const { device, secondsPerMinute: seconds } = first ?? {};
  return {
    subtitles: {
      model: first?.model ?? subtitles.model,
      ...(device && { device }),
      workers: ready.length,
      ...(waiting !== undefined && { waiting }),
      ...(typeof seconds === 'number' && { secondsPerMinute: Math.round(seconds * 10) / 10 }),
    },
  };
}
