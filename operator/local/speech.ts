// The speech workers of this machine: how many run, with which Python and model, and what they report.
import { resolve } from 'node:path';
import { decoderEnvironment } from '../decoder-environment.ts';
import { type ObservedSpeech, type Subtitles, speechReplicas } from '../speech/reports.ts';
import { IdleClock, querySpeechWorker, speechWaiting } from '../speech/worker.ts';
import type { Child } from './child.ts';
import { nodeArguments, TREE, WORKER_GRACE_MS } from './desired.ts';
import type { Server } from './environment.ts';
import { seeMetrics } from './observe.ts';
import type { ProcessSpec } from './process-spec.ts';
import type { Supervisor } from './supervisor.ts';

const SCRIPT = 'workers/subtitles/main.ts';
/** Set by hack/start, which installs Python and the model. */
const FROM_START = ['FOYER_SUBTITLES_PYTHON', 'FOYER_MODELS_DIR'];

type Children = Pick<Supervisor, 'children'>;

export class LocalSpeech {
  readonly #clock: () => number;
  readonly #idle = new IdleClock();
  #seen: ObservedSpeech = { waiting: undefined, idleMs: 0, workers: [] };

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
  }

  /** The desired workers. */
  async processes(server: Server, environment: Record<string, string>, supervisor: Children): Promise<ProcessSpec[]> {
    const { subtitles } = server.spec;
    if (!subtitles) return [];
    const metrics = await seeMetrics(supervisor.children('api'));
    const waiting = metrics === undefined ? undefined : speechWaiting(metrics);
    this.#seen = { ...this.#seen, waiting, idleMs: this.#idle.look(waiting, this.#clock()) };
    const count = speechReplicas(subtitles, this.#seen, supervisor.children('speech').length);
    const env = speechEnvironment(subtitles, { file: server.source.file, environment });
    return Array.from({ length: count }, (_, index) => speechProcess(index + 1, env));
  }

  /** What the server and the workers report. */
  async look(supervisor: Children): Promise<ObservedSpeech> {
    const queries = supervisor.children('speech').map(async (child: Child) => {
      const report = await querySpeechWorker(`http://127.0.0.1:${child.ownPort}`);
      return report ? [{ ...report, pod: child.spec.name }] : [];
    });
    this.#seen = { ...this.#seen, workers: (await Promise.all(queries)).flat() };
    return this.#seen;
  }
}

interface Surroundings {
  /** The file that declares the server: a relative path of the volume starts at its folder. */
  file: string;
  /** The environment of the server's processes. */
  environment: Record<string, string>;
  /** The environment of the operator. */
  from?: NodeJS.ProcessEnv;
}

export function speechEnvironment(
  { model, language, accelerator, modelVolume }: Subtitles,
  { file, environment, from = process.env }: Surroundings,
): Record<string, string> {
  const settings = JSON.parse(environment.FOYER_SETTINGS ?? '{}') as Record<string, unknown>;
  const given = FROM_START.flatMap((name) => (from[name] ? [[name, from[name]]] : []));
  const folder = modelVolume?.hostPath?.path;
  return {
    ...decoderEnvironment(environment, settings),
    ...Object.fromEntries(given),
    ...(folder !== undefined && { FOYER_MODELS_DIR: resolve(file, '..', folder) }),
    FOYER_SUBTITLES_MODEL: model,
    FOYER_SUBTITLES_DEVICE: accelerator ? 'auto' : 'cpu',
    ...(language && { FOYER_SUBTITLES_LANGUAGE: language }),
  };
}

/** A worker ends before its successor starts: a model takes much memory. */
function speechProcess(number: number, env: Record<string, string>): ProcessSpec {
  return {
    name: `speech-${number}`,
    role: 'speech',
    ...nodeArguments(SCRIPT, TREE),
    env,
    ownPort: true,
    stopSignal: 'SIGTERM',
    graceMs: WORKER_GRACE_MS,
    overlaps: false,
  };
}
