import { endSubscription, MOST_FAILURES, type SubscriptionRow } from '#areas/notifications/push.store.ts';
import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';

const AGAIN_MS = [30_000, 300_000, 3_600_000];

export interface Message {
  payload: Record<string, unknown>;
  /** Lifetime of the message in seconds from now. */
  ttl: number;
  urgency: 'low' | 'normal' | 'high';
  topic: string;
  /** Its notifications; several after quiet hours. */
  notificationIds: string[];
}

export interface Answer {
  status: number;
  retryAfter: string | undefined;
  error?: string;
}

export interface Noted {
  row: SubscriptionRow;
  answer: Answer;
  message: Message;
  now: Date;
}

/** Records the response of the push service and its consequences in one transaction. */
export async function noteAnswer(db: Db, noted: Noted): Promise<void> {
  await db.transaction(async (transaction) => {
    const { status } = noted.answer;
    if (status >= 200 && status < 300) await sent(transaction, noted);
    else if (status === 404 || status === 410) await endSubscription(transaction, noted.row.id, `status-${status}`);
    else await failed(transaction, noted);
  });
}

const messages = (db: Db, { row, message }: Noted) =>
  db('push_messages').where({ subscription_id: row.id }).whereIn('notification_id', message.notificationIds);

async function sent(db: Db, noted: Noted): Promise<void> {
  await messages(db, noted).delete();
  await db('push_subscriptions')
    .where({ id: noted.row.id })
    .update({ state: 'active', failures: 0, last_error: null, last_sent_at: noted.now });
}

/** 429, 5xx and no response are retried within the message's lifetime; other refusals are not. */
async function failed(db: Db, noted: Noted): Promise<void> {
  const { row, answer } = noted;
  const why = answer.error ?? `status-${answer.status}`;
  const [{ failures } = { failures: 0 }] = await db('push_subscriptions')
    .where({ id: row.id })
    .update({ failures: db.raw('failures + 1'), state: 'failing', last_error: why })
    .returning('failures');
  if (failures >= MOST_FAILURES) return endSubscription(db, row.id, why);
  const passing = answer.status === 0 || answer.status === 429 || answer.status >= 500;
  const runAt = passing ? await nextTry(db, noted) : undefined;
  const [notificationId] = noted.message.notificationIds;
  if (!runAt || !notificationId) {
    await messages(db, noted).delete();
    return;
  }
  await messages(db, noted).update({ attempts: db.raw('attempts + 1') });
  await enqueue(db, 'push.send', {
    payload: { subscriptionId: row.id, notificationId },
    options: { runAt, cause: 'retry' },
  });
}

/**
 * After 30 s, 5 min, 1 h, and not before the service permits it; undefined when that exceeds the message's lifetime.
 */
async function nextTry(db: Db, noted: Noted): Promise<Date | undefined> {
  const first = await messages(db, noted).first('attempts');
  const wait = AGAIN_MS[first?.attempts ?? 0];
  if (wait === undefined) return undefined;
  const ms = Math.max(wait, retryAfterMs(noted.answer.retryAfter, noted.now));
  return ms > noted.message.ttl * 1000 ? undefined : new Date(noted.now.getTime() + ms);
}

/** Retry-After: seconds or a date. */
function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const ms = /^\d{1,8}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
