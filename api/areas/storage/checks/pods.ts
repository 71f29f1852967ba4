// Questions to every process that mounts media: whether it can read a mount.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { Log } from '#platform/log.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';
import { StorageReason } from '../storages.schemas.ts';
import { findStorageRow } from '../storages.store.ts';
import { observeStorage } from './observe.ts';

const CHANNEL = 'foyer:storage-check';
const WAIT_MS = 5000;
const LOOK_MS = 50;
const KEPT_MS = 30_000;

const PodSight = z.object({
  pod: z.string(),
  role: z.enum(['api', 'worker', 'transcode']),
  ok: z.boolean(),
  ms: z.int(),
  reason: StorageReason.optional(),
  at: z.string(),
});
export type PodSight = z.output<typeof PodSight>;

const Question = z.object({ id: z.string(), storageId: z.uuid() });

const answersOf = (id: string): string => `foyer:storage-answers:${id}`;

/** The sight of every process that answers within 5 seconds; empty without Redis. */
export async function questionPods({ redis }: { redis: Redis }, storageId: string): Promise<PodSight[]> {
  const id = randomUUID();
  const questioned = await withoutFail(() => redis.publish(CHANNEL, JSON.stringify({ id, storageId })), 0);
  const end = performance.now() + WAIT_MS;
  let answers: string[] = [];
  while (answers.length < questioned && performance.now() < end) {
    answers = await withoutFail(async () => Object.values(await redis.hgetall(answersOf(id))), answers);
    if (answers.length < questioned) await sleep(LOOK_MS);
  }
  return answers.flatMap((text) => {
    const found = PodSight.safeParse(JSON.parse(text));
    return found.success ? [found.data] : [];
  });
}

interface Answering {
  db: Db;
  config: Config;
  redis: Redis;
  log: Log;
}

/** Answers questions of other processes about mounts, until the returned function is called. */
export function answerChecks(deps: Answering, role: PodSight['role']): () => void {
  const listener = deps.redis.duplicate({ enableOfflineQueue: true, commandTimeout: 5000 });
  listener.on('error', () => undefined); // reported by the first connection
  listener.on('message', (_channel: string, text: string) => {
    answer(deps, role, text).catch((error: unknown) => deps.log.debug({ err: error }, 'a storage was not checked'));
  });
  listener.subscribe(CHANNEL).catch(() => undefined); // repeated by the client at each connection
  return () => listener.disconnect();
}

async function answer({ db, config, redis }: Answering, role: PodSight['role'], text: string): Promise<void> {
  const { id, storageId } = Question.parse(JSON.parse(text));
  const row = await findStorageRow(db, storageId);
  if (!row) return;
  const began = performance.now();
  const { ok, reason } = await observeStorage({ db, config }, row);
  const ms = Math.round(performance.now() - began);
  const sight: PodSight = { pod: config.pod, role, ok, ms, ...(reason && { reason }), at: new Date().toISOString() };
  const key = answersOf(id);
  await redis.hset(key, `${role} ${config.pod}`, JSON.stringify(sight));
  await redis.pexpire(key, KEPT_MS);
}
