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
/** Of a track or list; the rest of a larger one is left out. */
const MOST_BYTES = 20 * 2 ** 20;
/** A film that could not be read is not read again for each request. */
const AGAIN = '10 minutes';

/**
 * What a worker takes out of a film once, read from where it is kept. The first request asks for it and waits, half a
 * minute at most. Throws 423 when the storage is away, 500 when the film cannot be read, 503 when no worker did it in time.
 */
export async function takenOut(call: Call, film: Film, key: string): Promise<Buffer> {
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
  throw new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker took it out in time', { retryAfterSec: 5 });
}

const unreadable = (): ApiError =>
  new ApiError('TRANSCODE_FAILED', 'This could not be taken out of the film', { reason: 'decode' });

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
    .whereRaw('finished_at > now() - ?::interval', [AGAIN])
    .first('id');
  if (failed) throw unreadable();
}

async function isOver({ deps }: Call, id: string): Promise<boolean> {
  const open = await deps.db('jobs').where({ id }).whereIn('state', ['waiting', 'delayed', 'active']).first('id');
  return open === undefined;
}
