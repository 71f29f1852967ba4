import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';
import { type DeliveryRow, dropWaiting } from './deliveries.store.ts';
import type { DeliveryAttempt } from './webhooks.schemas.ts';
import { type HeldWebhook, lockWebhook, MOST_FAILURES, stateOf, type WebhookRow } from './webhooks.store.ts';

const MINUTE_MS = 60_000;
/** Delays after each failed attempt: six attempts in total. */
export const LADDER_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS];
const IN_FLIGHT = 2;
const CLAIM_MS = 20_000; // ten seconds for the receiver, and time to store the result

export interface Claimed {
  webhook: WebhookRow;
  delivery: DeliveryRow;
}

export interface ClaimRequest {
  webhookId: string;
  jobId: string;
  /** Only this delivery, independent of the lane: a test or a redelivery. */
  deliveryId?: string | undefined;
  now: Date;
  /** False when this process already waits for enough unresponsive receivers; others of them are delayed. */
  roomForTroubled: boolean;
}

/**
 * Claims the next delivery of the lane of a webhook: due first attempts in event order, retries when due, two at a time. A
 * job whose process was killed claims the same delivery again. Claims are decided under a lock on the webhook,
 * so that a job that finds the lane full can leave the rest to the jobs that fill it.
 */
export async function claimNext(db: Db, request: ClaimRequest): Promise<Claimed | 'later' | undefined> {
  return db.transaction(async (transaction) => {
    const webhook = await lockWebhook(transaction, request.webhookId);
    if (!webhook) return undefined;
    if (!request.roomForTroubled && isTroubled(webhook) && !request.deliveryId) return 'later';
    const id = request.deliveryId
      ? await theOne(transaction, request.deliveryId, request)
      : await nextOf(transaction, webhook, request);
    if (id === undefined) return undefined;
    const [delivery] = await transaction('webhook_deliveries')
      .where({ id })
      .update({
        state: 'sending',
        claimed_by: request.jobId,
        claimed_until: new Date(request.now.getTime() + CLAIM_MS),
      })
      .returning('*');
    return delivery && { webhook, delivery };
  });
}

/** Whether the receiver refused the last delivery. */
export const isTroubled = ({ last_delivery: last, failures }: WebhookRow): boolean =>
  failures > 0 || (last !== null && last.state !== 'delivered');

async function theOne(db: Db, id: string, { jobId, now }: ClaimRequest): Promise<string | undefined> {
  const row = await db('webhook_deliveries')
    .where({ id })
    .whereRaw(`(state = 'waiting' or state = 'sending' and (claimed_by = ? or claimed_until <= ?))`, [jobId, now])
    .first('id');
  return row?.id;
}

async function nextOf(db: Db, webhook: HeldWebhook, { jobId, now }: ClaimRequest): Promise<string | undefined> {
  if (stateOf(webhook, webhook.expired) !== 'enabled') return undefined;
  const sending = await db('webhook_deliveries')
    .where({ webhook_id: webhook.id, state: 'sending' })
    .whereNot({ kind: 'test' })
    .select('id', 'claimed_by', 'claimed_until');
  const lost = sending.find(
    (row) => row.claimed_by === jobId || (row.claimed_until !== null && row.claimed_until <= now),
  );
  if (lost) return lost.id;
  if (sending.length >= IN_FLIGHT) return undefined;
  const due = await db('webhook_deliveries')
    .where({ webhook_id: webhook.id, state: 'waiting' })
    .whereNot({ kind: 'test' })
    .whereRaw(`(next_attempt_at <= ? or attempts = '[]')`, [now]) // a first attempt is always due, whatever this clock shows
    .orderBy(['next_attempt_at', 'seq'])
    .first('id');
  return due?.id;
}

export interface Ended {
  webhookId: string;
  deliveryId: string;
  jobId: string;
  attempt: Omit<DeliveryAttempt, 'number'>;
}

/** Stores the result of an attempt and schedules the next one; true when it switched the webhook off. */
export async function recordAttempt(db: Db, ended: Ended): Promise<boolean> {
  const webhook = await lockWebhook(db, ended.webhookId);
  const row = await db('webhook_deliveries')
    .where({ id: ended.deliveryId, state: 'sending', claimed_by: ended.jobId })
    .forUpdate()
    .first();
  if (!webhook || !row) return false; // deleted, or claimed by another job
  const attempt: DeliveryAttempt = { number: row.attempts.length + 1, ...ended.attempt };
  const attempts = [...row.attempts, attempt];
  const after = stateAfter(webhook, row, attempts);
  await db('webhook_deliveries')
    .where({ id: row.id })
    .update({ ...after, attempts: JSON.stringify(attempts), claimed_by: null, claimed_until: null });
  if (after.next_attempt_at)
    await enqueue(db, 'webhook.deliver', {
      payload: { webhookId: webhook.id, due: after.next_attempt_at.toISOString() },
      options: { runAt: after.next_attempt_at, cause: 'retry', priority: 30 },
    });
  return noteOutcome(db, webhook, { row, attempt, state: after.state });
}

type After = Pick<Row<'webhook_deliveries'>, 'state' | 'next_attempt_at' | 'finished_at'>;

function stateAfter(webhook: HeldWebhook, row: DeliveryRow, attempts: readonly DeliveryAttempt[]): After {
  const last = attempts.at(-1);
  const end = new Date(Date.parse(last?.at ?? '') + (last?.tookMs ?? 0));
  if (last?.outcome === '2xx') return { state: 'delivered', next_attempt_at: null, finished_at: end };
  const wait = row.kind === 'test' ? undefined : LADDER_MS[attempts.length - 1];
  if (wait === undefined) return { state: 'failed', next_attempt_at: null, finished_at: end };
  if (stateOf(webhook, webhook.expired) !== 'enabled')
    return { state: 'dropped', next_attempt_at: null, finished_at: end };
  return { state: 'waiting', next_attempt_at: new Date(end.getTime() + wait), finished_at: null };
}

interface Outcome {
  row: DeliveryRow;
  attempt: DeliveryAttempt;
  state: DeliveryRow['state'];
}

async function noteOutcome(db: Db, webhook: WebhookRow, { row, attempt, state }: Outcome): Promise<boolean> {
  const { statusCode } = attempt;
  const last = { id: row.id, at: attempt.at, state, ...(statusCode !== undefined && { statusCode }) };
  const failures = row.kind === 'event' ? failuresAfter(webhook, state) : webhook.failures;
  const off = failures >= MOST_FAILURES && webhook.switched_off_at === null;
  await db('webhooks')
    .where({ id: webhook.id })
    .update({ failures, last_delivery: JSON.stringify(last), ...(off && { switched_off_at: new Date() }) });
  if (off) await dropWaiting(db, webhook.id);
  return off;
}

function failuresAfter({ failures }: WebhookRow, state: DeliveryRow['state']): number {
  if (state === 'delivered') return 0;
  return state === 'failed' ? Math.min(MOST_FAILURES, failures + 1) : failures;
}
