// Queries the speech workers of the servers, and keeps their last reports. All maps are keyed by the uid of the server.
import type { PodStatus } from '../runtime/manifest.ts';
import { IdleClock, querySpeechWorker, type SpeechReport } from '../speech/worker.ts';
import { SPEECH_PORT } from './desired/environment.ts';
import { isSpeech, type Observed } from './observed.ts';
import type { Server } from './server.ts';

/** Reads the state of the speech worker at an address of the cluster. */
export type QuerySpeech = (ip: string) => Promise<SpeechReport | undefined>;

export const querySpeechPod: QuerySpeech = (ip) =>
  querySpeechWorker(`http://${ip.includes(':') ? `[${ip}]` : ip}:${SPEECH_PORT}`);

/** A worker that misses a request is busy: its last report is valid for this long. */
const BUSY_MS = 30_000;

export class SpeechProbes {
  readonly #idle = new Map<string, IdleClock>();
  /** By the name of the pod. */
  readonly #reports = new Map<string, ReadonlyMap<string, { at: number; report: SpeechReport }>>();

  /** The observed state with what the running workers report. */
  async look({ uid, spec }: Server, observed: Observed, query: QuerySpeech): Promise<Observed> {
    if (!spec.subtitles) return observed;
    const at = observed.now.getTime();
    const clock = this.#idle.get(uid) ?? new IdleClock();
    this.#idle.set(uid, clock);
    const { waiting } = observed.speech;
    const before = this.#reports.get(uid);
    const queries = running(observed).map(async ({ name, ip }) => {
      const report = await query(ip);
      return [name, report ? { at, report } : before?.get(name)] as const;
    });
    const found = await Promise.all(queries);
    const known = found.flatMap(([name, last]) => (last && at - last.at < BUSY_MS ? [[name, last] as const] : []));
    this.#reports.set(uid, new Map(known));
    const workers = known.map(([pod, { report }]) => ({ ...report, pod }));
    return { ...observed, speech: { waiting, idleMs: clock.look(waiting, at), workers } };
  }

  /** The server was deleted. */
  forget(uid: string): void {
    this.#idle.delete(uid);
    this.#reports.delete(uid);
  }
}

/** The speech pods that run and have an address. */
function running({ pods }: Observed): { name: string; ip: string }[] {
  const own = pods.filter(isSpeech).filter(({ metadata }) => !metadata.deletionTimestamp);
  return own.flatMap(({ metadata: { name }, status }) => {
    const { phase, podIP: ip } = (status ?? {}) as PodStatus;
    return phase === 'Running' && ip ? [{ name, ip }] : [];
  });
}
