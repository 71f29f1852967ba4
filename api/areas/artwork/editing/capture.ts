import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { VisibleItem } from '#areas/items/public.ts';
import { type FileSource, findItemSource, findSource, refuseUnavailableSource } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { enqueue } from '#platform/queue.ts';
import type { ArtworkCapture } from '../artwork.schemas.ts';
import type { Taken } from '../intake.ts';

const WAIT_MS = 20_000;
const LOOK_MS = 100;
/** Frames that are made or wait: two of a worker and eight in line. */
const MOST_OPEN = 10;

const Result = z.object({
  taken: z.object({
    ...{ sha256: z.string(), mime: z.string(), sizeBytes: z.int() },
    picture: z.object({
      ...{ width: z.int(), height: z.int(), frames: z.int(), alpha: z.boolean() },
      ...{ blurhash: z.string(), dominant: z.string(), palette: z.array(z.string()) },
    }),
  }),
});

const notPlayable = (reason: string): ApiError => new ApiError('MEDIA_NOT_PLAYABLE', 'There is no frame', { reason });

/** The film that a frame is taken from. Throws 404 for a file of another item, 415 for one without a picture. */
async function filmOf({ db }: Call, item: VisibleItem, fileId: string | undefined): Promise<FileSource> {
  const source = fileId === undefined ? await findItemSource(db, item.id) : await findSource(db, fileId);
  if (fileId !== undefined && source?.itemId !== item.id) throw notFound();
  const film = source?.probe?.streams.some((stream) => stream.kind === 'video' && !stream.attachedPicture);
  if (!source || !film) throw notPlayable('no-picture');
  return source;
}

/**
 * One exact frame of a film, made by a worker and stored. Throws 400 beyond the end, 415 for a file without frames, 423 while
 * the storage is unavailable, and 503 while too many frames wait.
 */
export async function capturedFrame(call: Call, item: VisibleItem, body: ArtworkCapture): Promise<Taken> {
  const source = await filmOf(call, item, body.fileId);
  const { positionMs } = body;
  if (positionMs === undefined) throw invalid(['body', 'positionMs'], 'required', 'the position in the film');
  if (positionMs >= source.durationMs) throw invalid(['body', 'positionMs'], 'too_big', 'beyond the end of the film');
  await refuseUnavailableSource(call, { fileId: source.id });
  await refuseFull(call);
  const job = await enqueue(call.deps.db, 'artwork.frames', {
    payload: { capture: { fileId: source.id, positionMs } },
    options: {
      ...{ queue: 'interactive', priority: 10, maxAttempts: 1, cause: 'person', libraryId: item.libraryId },
      ...{ target: { kind: 'item', id: item.id, title: item.title }, byAccountId: call.who.accountId },
    },
  });
  return resultOf(call, job);
}

/** The frame of a job that was committed, as soon as a worker has stored it. */
async function resultOf(call: Call, job: string): Promise<Taken> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end && !call.signal.aborted; await sleep(LOOK_MS)) {
    const row = await call.deps.db('jobs').where({ id: job }).first('state', 'result');
    if (row?.state === 'completed') return Result.parse(row.result).taken;
    if (row?.state === 'failed' || row?.state === 'cancelled') throw notPlayable('decode');
  }
  throw new ApiError('TRANSCODE_LIMIT_REACHED', 'No worker made the frame in time', { retryAfterSec: 5 });
}

async function refuseFull({ deps: { db } }: Call): Promise<void> {
  const [row] = await db('jobs')
    .where({ kind: 'artwork.frames', queue: 'interactive' })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .count({ count: '*' });
  if (Number(row?.count ?? 0) >= MOST_OPEN) {
    throw new ApiError('TRANSCODE_LIMIT_REACHED', 'Too many frames are made at once', { retryAfterSec: 5 });
  }
}
