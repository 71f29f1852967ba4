// First tries of guides: a person waits for them, and only a worker of the queue `live` may reach their addresses.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import { countPools, enqueue, requestCancel } from '#platform/queue.ts';

const PLACE = 'jobs|payload|live.guide.order';
const LOOK_MS = 50;
const WITHIN_MS = 15_000;
/** Time of the worker, so that its answer arrives within that of the request. */
export const TRY_MS = 13_000;
/** First tries that may wait at a time. */
const MOST_OPEN = 10;

/** The place of a guide; sealed, because addresses and headers hold credentials. */
export const GuidePlace = z.object({
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  uploadId: z.string().optional(),
});
export type GuidePlace = z.output<typeof GuidePlace>;

export const openPlace = (keys: Keys, sealed: string): GuidePlace | undefined => {
  const text = unseal(keys, sealed, PLACE);
  return text === undefined ? undefined : GuidePlace.parse(JSON.parse(text));
};

/** How a first try ended. */
export const Tried = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), code: z.string(), message: z.string() }),
]);
export type Tried = z.output<typeof Tried>;

const unavailable = (message: string, reason: string): ApiError =>
  new ApiError('PROVIDER_UNAVAILABLE', message, { reason });

/**
 * Has a worker look whether an XMLTV guide stands there. Throws 400 `address_not_allowed`, 400 `not_xmltv` for an upload, 502
 * for an address that does not answer within 15 seconds or as something else.
 */
export async function tryGuide(call: Call, place: GuidePlace): Promise<void> {
  const answer = await ordered(call, place);
  if (!answer) throw unavailable('No worker looked at the guide within 15 seconds', 'no-worker');
  if (answer.ok) return;
  if (answer.code === 'address_not_allowed') throw invalid(['body', 'url'], answer.code, answer.message);
  if (place.uploadId !== undefined) throw invalid(['body', 'file'], answer.code, answer.message);
  throw unavailable(answer.message, answer.code.replaceAll('_', '-'));
}

/** The job stands outside the transaction of the request, which waits for it. */
async function ordered(call: Call, place: GuidePlace): Promise<Tried | undefined> {
  const { db, keys } = call.deps;
  if ((await countPools(db)) === 0) return undefined;
  await refuseMany(call);
  const id = await enqueue(db, 'live.guide', {
    payload: { order: seal(keys, JSON.stringify(place), PLACE) },
    options: { priority: 0, maxAttempts: 1, cause: 'person', byAccountId: call.who.accountId },
  });
  for (const end = Date.now() + WITHIN_MS; Date.now() < end && !call.signal.aborted; await sleep(LOOK_MS)) {
    const row = await db('jobs').where({ id }).first('state', 'result');
    if (row?.state === 'completed') return Tried.parse(row.result);
    if (row?.state === 'failed' || row?.state === 'cancelled') return undefined;
  }
  await requestCancel(db, id);
  return undefined;
}

async function refuseMany({ deps: { db } }: Call): Promise<void> {
  const [row] = await db('jobs')
    .where({ kind: 'live.guide' })
    .whereRaw(`payload->>'order' is not null`)
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .count({ count: '*' });
  if (Number(row?.count ?? 0) >= MOST_OPEN) throw unavailable('Too many guides are tried at once', 'busy');
}
