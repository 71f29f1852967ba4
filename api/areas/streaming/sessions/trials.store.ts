import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { newId } from '#platform/ids.ts';
import type { Redis } from '#platform/redis.ts';

/** Requests that every transcode worker encodes a second with its encoder. The message is the id of the trial. */
export const TRIALS = 'foyer:transcode:trials';

const Trial = z.object({
  pod: z.string(),
  encoder: z.string(),
  ok: z.boolean(),
  tookMs: z.int(),
});
export type Trial = z.output<typeof Trial>;

const answersOf = (id: string): string => `foyer:transcode:trial:${id}`;
const KEPT_SEC = 60;
const LOOK_MS = 200;

export async function answerTrial(redis: Redis, id: string, trial: Trial): Promise<void> {
  await redis.rpush(answersOf(id), JSON.stringify(trial));
  await redis.expire(answersOf(id), KEPT_SEC);
}

/** Responses of the workers within the time; empty without workers. Throws without Redis. */
export async function tryEncoders(redis: Redis, withinMs: number): Promise<Trial[]> {
  const id = newId();
  const receivers = await redis.publish(TRIALS, id);
  const end = Date.now() + withinMs;
  for (;;) {
    const answers = await redis.lrange(answersOf(id), 0, -1);
    if (answers.length >= receivers || Date.now() >= end) return answers.map((text) => Trial.parse(JSON.parse(text)));
    await sleep(LOOK_MS);
  }
}
