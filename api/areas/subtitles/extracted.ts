import { setTimeout as sleep } from 'node:timers/promises';
import { refuseUnavailableSource } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { firstBytes } from '#platform/bytes.ts';
import { ObjectMissing } from '#platform/objects.ts';
import { enqueue } from '#platform/queue.ts';
import type { Film } from './film.ts';

const BUCKET = 'foyer-subtitles';
const WAIT_MS = 30_000;
const LOOK_MS = 100;
/** Limit of a track or list; the rest is dropped. */
const MOST_BYTES = 20 * 2 ** 20;
/** Time before an unreadable film is tried again. */
const RETRY_AFTER = '10 minutes';

/**
 * Bytes that a worker extracts from a film once. The first request queues the extraction and waits up to 30 seconds.
 * Throws 423 when the storage is unavailable, 500 when the film is unreadable, and 503 when no worker finished in time.
 */
export async function extracted(call: Call, film: Film, key: string): Promise<Buffer> {
  const kept = await stored(call, key);
  if (kept) return kept;
  await refuseUnavailableSource(call, film);
  const jobKey = `subtitles.extract:${film.fileId}:${film.version}`;
  await refuseBroken(call, jobKey);
  const job = await enqueue(call.deps.db, 'subtitles.extract', {
    payload: { fileId: film.fileId },
    options: {
      key: jobKey,
      queue: 'interactive',
      priority: 10,
      maxAttempts: 1,
      target: { kind: 'file', id: film.fileId },
    },
  });
  for (const end = Date.now() + WAIT_MS; Date.now() < end && !call.signal.aborted; ) {
    const over = await isOver(call, job);
    const found = await stored(call, key);
    if (found) return found;
    if (over) throw unreadable();
    await sleep(LOOK_MS);
  }
  throw new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker extracted it in time', { retryAfterSec: 5 });
}

const unreadable = (): ApiError => new ApiError('TRANSCODE_FAILED', 'The film could not be read', { reason: 'decode' });

async function stored({ deps }: Call, key: string): Promise<Buffer | undefined> {
  try {
    return await firstBytes(await deps.objects.get(BUCKET, key), MOST_BYTES);
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}

async function refuseBroken({ deps }: Call, key: string): Promise<void> {
  const failed = await deps
    .db('jobs')
    .where({ key, state: 'failed' })
    .whereRaw('finished_at > now() - ?::interval', [RETRY_AFTER])
    .first('id');
  if (failed) throw unreadable();
}

async function isOver({ deps }: Call, id: string): Promise<boolean> {
  const open = await deps.db('jobs').where({ id }).whereIn('state', ['waiting', 'delayed', 'active']).first('id');
  return open === undefined;
}
