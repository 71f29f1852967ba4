import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';
import type { DeliveriesQuery, Delivery, DeliveryAttempt, WebhookFormat } from './webhooks.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'webhook_deliveries.format': WebhookFormat;
    'webhook_deliveries.attempts': DeliveryAttempt[];
  }
}

export const MOST_WAITING = 10_000;

/** Tests and redeliveries (`kind`) do not count for switching off. */
export type DeliveryRow = Row<'webhook_deliveries'>;

export interface DeliveryDraft {
  id: string;
  webhookId: string;
  kind: DeliveryRow['kind'];
  event: string;
  eventId: string;
  format: WebhookFormat;
  /** A newer delivery of the thread supersedes a waiting one. */
  thread?: string | undefined;
  redeliveryOf?: string;
  body: Buffer;
}

/** Inserts the delivery and enqueues its job in the transaction of the caller. Beyond 10,000 waiting ones it is dropped. */
export async function insertDelivery(db: Db, draft: DeliveryDraft): Promise<void> {
  const { webhookId, thread } = draft;
  if (thread !== undefined) await supersede(db, webhookId, thread);
  const full = draft.kind === 'event' && (await isFull(db, webhookId));
  await db('webhook_deliveries').insert({
    id: draft.id,
    webhook_id: webhookId,
    kind: draft.kind,
    event: draft.event,
    event_id: draft.eventId,
    format: draft.format,
    thread: thread ?? null,
    redelivery_of: draft.redeliveryOf ?? null,
    size_bytes: draft.body.length,
    ...(full
      ? { state: 'dropped', finished_at: db.raw('clock_timestamp()') }
      : { state: 'waiting', body: draft.body, next_attempt_at: db.raw('clock_timestamp()') }),
  });
  if (full) return;
  const only = draft.kind === 'event' ? {} : { deliveryId: draft.id };
  await enqueue(db, 'webhook.deliver', {
    payload: { webhookId, ...only },
    options: { priority: only.deliveryId ? 5 : 30 },
  });
}

async function supersede(db: Db, webhookId: string, thread: string): Promise<void> {
  await db('webhook_deliveries')
    .where({ webhook_id: webhookId, thread, state: 'waiting' })
    .update({ state: 'superseded', finished_at: db.raw('clock_timestamp()'), next_attempt_at: null });
}

async function isFull(db: Db, webhookId: string): Promise<boolean> {
  const waiting = db('webhook_deliveries')
    .where({ webhook_id: webhookId, state: 'waiting' })
    .select('id')
    .limit(MOST_WAITING);
  const [row] = await db.from(waiting.as('some')).count<{ count: number }[]>('* as count');
  return (row?.count ?? 0) >= MOST_WAITING;
}

export async function findDelivery(db: Db, id: string): Promise<DeliveryRow | undefined> {
  return db('webhook_deliveries').where({ id }).first();
}

export type DeliveryFilter = Pick<DeliveriesQuery, 'state' | 'event' | 'since' | 'until' | 'deliveryId'>;

export function selectDeliveries(db: Db, webhookId: string, filter: DeliveryFilter) {
  return db('webhook_deliveries as d')
    .where('d.webhook_id', webhookId)
    .modify((query) => {
      if (filter.state) query.whereIn('d.state', filter.state);
      if (filter.event) query.where('d.event', filter.event);
      if (filter.since) query.where('d.created_at', '>=', filter.since);
      if (filter.until) query.where('d.created_at', '<', filter.until);
      if (filter.deliveryId) query.where('d.id', filter.deliveryId);
    })
    .select('d.*');
}

/** Drops the waiting deliveries of a webhook that was switched off or disabled. */
export async function dropWaiting(db: Db, webhookId: string): Promise<void> {
  await db('webhook_deliveries')
    .where({ webhook_id: webhookId, state: 'waiting' })
    .whereNot({ kind: 'test' })
    .update({ state: 'dropped', finished_at: db.raw('clock_timestamp()'), next_attempt_at: null });
}

/** Job webhook.trim: deletes deliveries after 30 days and beyond 5,000 a webhook, bodies after 7 days. Waiting ones stay. */
export async function trimDeliveries(db: Db): Promise<void> {
  const done = `state not in ('waiting', 'sending')`;
  await db.raw(`delete from webhook_deliveries where created_at < now() - interval '30 days' and ${done}`);
  await db.raw(`update webhook_deliveries set body = null where created_at < now() - interval '7 days'
    and body is not null and ${done}`);
  await db.raw(`delete from webhook_deliveries where id in (select id from (
    select id, row_number() over (partition by webhook_id order by created_at desc, id desc) as place
    from webhook_deliveries where ${done}) aged where place > 5000)`);
}

/** Enqueues the job of the waiting deliveries now. */
export async function wakeLane(db: Db, webhookId: string): Promise<void> {
  await enqueue(db, 'webhook.deliver', { payload: { webhookId } });
}

/** Webhooks with a delivery that is overdue by a minute, because its job was lost. */
export async function overdueWebhooks(db: Db): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { webhook_id: string }[] }>(
    `select distinct webhook_id from webhook_deliveries
     where (state = 'waiting' and next_attempt_at < now() - interval '1 minute')
        or (state = 'sending' and claimed_until < now() - interval '1 minute')`,
  );
  return rows.map((row) => row.webhook_id);
}

export interface Shown {
  body?: boolean;
  response?: boolean;
}

export function toDelivery(row: DeliveryRow, shown: Shown = {}): Delivery {
  return {
    id: row.id,
    webhookId: row.webhook_id,
    event: row.event,
    eventId: row.event_id,
    state: row.state,
    attempts: row.attempts.map((attempt) => (shown.response ? attempt : withoutAnswer(attempt))),
    ...(row.next_attempt_at && { nextAttemptAt: row.next_attempt_at.toISOString() }),
    ...(row.redelivery_of && { redeliveryOf: row.redelivery_of }),
    createdAt: row.created_at.toISOString(),
    ...(row.finished_at && { finishedAt: row.finished_at.toISOString() }),
    ...(shown.body && row.body && { body: row.body.toString('utf8') }),
    sizeBytes: row.size_bytes,
  };
}

function withoutAnswer({
  responseHeaders: _headers,
  responseBody: _body,
  ...attempt
}: DeliveryAttempt): DeliveryAttempt {
  return attempt;
}
