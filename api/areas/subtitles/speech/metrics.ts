import { Gauge, type Registry, register } from 'prom-client';
import type { Db } from '#platform/db.ts';
import { speechDemand } from './line.store.ts';

/** The gauge by which the operator starts and ends speech workers. */
export const SPEECH_WAITING = 'foyer_speech_waiting';

/**
 * Serves `foyer_speech_waiting`: requests for subtitles from speech that wait or run, without those of batches that rest
 * because somebody streams. It is at least 1 while no worker has looked for the declared model, and when its fault was found more than ten
 * minutes ago. The series is absent while Postgres is unavailable, so that an outage does not look like an empty queue.
 */
export function serveSpeechMetrics(
  { db, declaredModel }: { db: Db; declaredModel: string | undefined },
  registry: Registry = register,
): void {
  new Gauge({
    name: SPEECH_WAITING,
    help: 'Requests for subtitles from speech that wait or run, without those that rest.',
    registers: [registry],
    async collect() {
      const n = await speechDemand(db, declaredModel).catch(() => undefined);
      this.reset();
      if (n !== undefined) this.set(n);
      else this.remove();
    },
  });
}
