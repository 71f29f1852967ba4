// Parses the transcode metrics of the API's /metrics.
import type { PoolDemand, PoolWorker } from './transcode-pool.ts';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(foyer_transcode_[a-z_]+)(?:\{(.*)\})? ([0-9.eE+-]+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const found = LINE.exec(line);
    if (!found) return [];
    const [, name = '', labels = '', value] = found;
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', content = '']) => [key, content]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/**
 * Undefined when the server did not report all of them, as without a store: missing metrics do not mean that the pool is
 * idle.
 */
export function demandOf(text: string): PoolDemand | undefined {
  const samples = samplesOf(text);
  const single = (name: string) => samples.find((sample) => sample.name === name)?.value;
  const waiting = single('foyer_transcode_waiting');
  const sessions = single('foyer_transcode_sessions');
  if (waiting === undefined || sessions === undefined || single('foyer_transcode_workers') === undefined)
    return undefined;
  const worker = ({ labels, value }: Sample): PoolWorker => {
    const same = (name: string) => samples.find((other) => other.name === name && other.labels.pod === labels.pod);
    return {
      pod: labels.pod ?? '',
      encoder: labels.encoder ?? '',
      gpu: labels.gpu === 'true',
      slots: value,
      used: same('foyer_transcode_worker_sessions')?.value ?? 0,
      idleSeconds: same('foyer_transcode_worker_idle_seconds')?.value ?? 0,
    };
  };
  const workers = samples.filter(({ name }) => name === 'foyer_transcode_worker_slots').map(worker);
  return { waiting, sessions, workers };
}
