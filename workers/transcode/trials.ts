import { answerTrial, TRIALS } from '#areas/streaming/sessions/trials.store.ts';
import type { Config } from '#platform/config.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis.ts';
import { type Encoder, tryEncoder } from './encoders.ts';

const SECOND = 25; // frames

/** Encodes a second of video when an encoding test is requested here; concurrent requests share one run. */
export function answerTrials({
  redis,
  encoder,
  config,
  log,
}: {
  redis: Redis;
  encoder: Encoder;
  config: Config;
  log: Log;
}): () => void {
  let running: ReturnType<typeof tried> | undefined;
  const tried = async (): Promise<{ ok: boolean; tookMs: number }> => {
    const began = performance.now();
    const words = await tryEncoder(encoder, SECOND).catch((error: Error) => error.message);
    if (words !== undefined) log.warn({ encoder: encoder.name, words }, 'the encoder does not work any more');
    return { ok: words === undefined, tookMs: Math.round(performance.now() - began) };
  };
  const answer = async (id: string): Promise<void> => {
    running ??= tried().finally(() => {
      running = undefined;
    });
    await answerTrial(redis, id, { pod: config.pod, encoder: encoder.name, ...(await running) });
  };
  const listener = redis.duplicate({ enableOfflineQueue: true });
  listener.on('error', () => undefined); // reported by the first connection
  listener.on('ready', () => void listener.subscribe(TRIALS).catch(() => undefined));
  listener.on('message', (_channel: string, id: string) => void answer(id).catch(() => undefined));
  return () => listener.disconnect();
}
