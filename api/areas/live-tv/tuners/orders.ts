// Work that a person waits for and that only a worker of the queue `live` may do: it alone reaches addresses of tuners.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import { enqueue, requestCancel } from '#platform/queue.ts';

const PLACE = 'jobs|payload|live.scan.order';
const LOOK_MS = 50;

const Headers = z.record(z.string(), z.string());

/** Where a lineup is read. */
export const Place = z.object({
  kind: z.enum(['hdhomerun', 'm3u']),
  url: z.string().optional(),
  deviceId: z.string().optional(),
  object: z.string().optional(),
  headers: Headers.optional(),
  userAgent: z.string().optional(),
});
export type Place = z.output<typeof Place>;

/** Sealed, because addresses and headers hold credentials. */
export const Order = z.discriminatedUnion('do', [
  z.object({ do: z.literal('try'), place: Place }),
  z.object({ do: z.literal('discover'), addresses: z.array(z.string()), timeoutMs: z.int() }),
  z.object({ do: z.literal('test'), sourceIds: z.array(z.string()), seconds: z.int() }),
]);
export type Order = z.output<typeof Order>;

export const openOrder = (keys: Keys, sealed: string): Order | undefined => {
  const text = unseal(keys, sealed, PLACE);
  return text === undefined ? undefined : Order.parse(JSON.parse(text));
};

/** Lets a worker do it now; undefined when none did within the time. The job stands outside the transaction of the request. */
export async function ordered(call: Call, order: Order, withinMs: number): Promise<unknown> {
  const { db, keys } = call.deps;
  const sealed = seal(keys, JSON.stringify(order), PLACE);
  const id = await enqueue(db, 'live.scan', {
    payload: { order: sealed },
    options: { priority: 0, maxAttempts: 1, cause: 'person', byAccountId: call.who.accountId },
  });
  for (const end = Date.now() + withinMs; Date.now() < end && !call.signal.aborted; await sleep(LOOK_MS)) {
    const row = await db('jobs').where({ id }).first('state', 'result');
    if (row?.state === 'completed') return row.result;
    if (row?.state === 'failed' || row?.state === 'cancelled') return undefined;
  }
  await requestCancel(db, id);
  return undefined;
}

/** How a try ended. */
export const Tried = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    deviceId: z.string().optional(),
    slotCount: z.int().optional(),
    device: z.object({ id: z.string(), model: z.string(), firmware: z.string() }).optional(),
  }),
  z.object({ ok: z.literal(false), reason: z.enum(['address', 'no-answer', 'not-its-kind']), message: z.string() }),
]);
export type Tried = z.output<typeof Tried>;

const WITHIN_MS = 10_000;

export const unavailable = (message: string, reason: string): ApiError =>
  new ApiError('PROVIDER_UNAVAILABLE', message, { reason });

/**
 * Tries the place within 10 seconds. Throws 400 `address_not_allowed` for an address that is closed, 502 when it does not answer
 * as its kind.
 */
export async function triedPlace(call: Call, place: Place): Promise<Extract<Tried, { ok: true }>> {
  const answer = await ordered(call, { do: 'try', place }, WITHIN_MS + 1000);
  if (answer === undefined || answer === null)
    throw unavailable('No worker tried the address within 10 seconds', 'no-worker');
  const tried = Tried.parse(answer);
  if (tried.ok) return tried;
  if (tried.reason === 'address') throw invalid(['body', 'url'], 'address_not_allowed', tried.message);
  throw unavailable(tried.message, tried.reason);
}
