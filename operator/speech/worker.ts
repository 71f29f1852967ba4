// What a speech worker reports of itself, and what the API reports of the queue.
import { z } from 'zod';
import { exchange } from '../server-api/exchange.ts';

const TIMEOUT_MS = 2000;

/** The answer of GET /status of a speech worker. */
export const SpeechReport = z.object({
  model: z.string().max(200),
  device: z.enum(['gpu', 'cpu']).nullable().default(null),
  state: z.enum(['starting', 'ready', 'unavailable']),
  /** Why it is unavailable, or empty. */
  reason: z.string().max(100).default(''),
  message: z.string().max(2000).default(''),
  /** The GPU failed, and the model runs on the CPU. */
  fellBack: z.boolean().default(false),
  /** Seconds that a minute of sound takes, once known. */
  secondsPerMinute: z.number().min(0).nullish(),
});
export type SpeechReport = z.output<typeof SpeechReport>;

/** The worker at this address, such as http://10.0.0.7:8081; undefined when it does not answer. */
export async function querySpeechWorker(address: string): Promise<SpeechReport | undefined> {
  try {
    const { status, text } = await exchange(`${address}/status`, { timeoutMs: TIMEOUT_MS });
    return status === 200 ? SpeechReport.parse(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

const WAITING = 'foyer_speech_waiting ';

/** Requests that want a worker now, from the API's /metrics; undefined while it does not report them. */
export function speechWaiting(text: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(WAITING));
  const value = Number(line?.slice(WAITING.length));
  return Number.isFinite(value) ? value : undefined;
}

/** How long nothing has waited. */
export class IdleClock {
  #busyAt: number | undefined;

  /** Milliseconds without a waiting request. The time before the first look counts as busy, and so does an unknown count. */
  look(waiting: number | undefined, now: number): number {
    if (waiting !== 0 || this.#busyAt === undefined) this.#busyAt = now;
    return now - this.#busyAt;
  }
}
