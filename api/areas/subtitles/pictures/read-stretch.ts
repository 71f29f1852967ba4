import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { refuseUnavailableSource } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { cancelUnstarted, enqueue, requestCancel } from '#platform/queue.ts';
import { type PictureStretch, STRETCH_KEPT_MS, stretchKey } from '#platform/subtitles/stretches.ts';
import { inPlace, type PlaceLimits } from './places.ts';

const READERS: PlaceLimits = { name: 'subtitle-pictures', places: 2, line: 8, waitMs: 60_000 };
const READ_MS = 30_000;
const LOOK_MS = 25;

/** What the worker says in the end. */
const Read = z.object({ read: z.boolean() });

/**
 * The key of a stretch that is stored. The first request has a worker read it, in one of the two places of the server.
 * Throws 423 when the storage is unavailable, 500 when the track is unreadable, and 503 when all places and the line are
 * full.
 */
export async function readStretch(call: Call, fileId: string, stretch: PictureStretch): Promise<string> {
  const key = stretchKey(fileId, stretch);
  if (await isKept(call, key)) return key;
  await refuseUnavailableSource(call, { fileId });
  const read = await inPlace({ redis: call.deps.redis, signal: call.signal }, READERS, async () => {
    if (!(await isKept(call, key))) await readByWorker(call, fileId, stretch);
    return true;
  });
  if (!read) throw busy('Too many picture subtitles are read at once');
  return key;
}

const busy = (message: string): ApiError => new ApiError('TRANSCODE_LIMIT_REACHED', message, { retryAfterSec: 5 });

async function isKept({ deps }: Call, key: string): Promise<boolean> {
  const found = await deps.objects.stat('foyer-subtitles', key);
  return found !== undefined && found.modifiedAt.getTime() > Date.now() - STRETCH_KEPT_MS;
}

/** Each request has a job of its own, so that it may cancel it when its client hangs up. */
async function readByWorker(call: Call, fileId: string, pictures: PictureStretch): Promise<void> {
  const { db } = call.deps;
  const job = await enqueue(db, 'subtitles.extract', {
    payload: { fileId, pictures },
    options: {
      ...{ queue: 'interactive', priority: 5, maxAttempts: 1, cause: 'person' },
      ...{ target: { kind: 'file', id: fileId }, byAccountId: call.who.accountId },
    },
  });
  try {
    for (const end = Date.now() + READ_MS; Date.now() < end; await sleep(LOOK_MS, undefined, { signal: call.signal })) {
      const row = await db('jobs').where({ id: job }).first('state', 'result');
      if (row?.state === 'completed' && Read.parse(row.result).read) return;
      if (row && ['waiting', 'delayed', 'active'].includes(row.state)) continue;
      await refuseUnavailableSource(call, { fileId });
      throw new ApiError('TRANSCODE_FAILED', 'The track could not be read', { reason: 'decode' });
    }
    throw busy('No worker read it in time');
  } catch (error) {
    await cancelUnstarted(db, job, new Date());
    await requestCancel(db, job);
    throw error;
  }
}
