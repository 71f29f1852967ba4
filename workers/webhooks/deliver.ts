import { notify } from '#areas/notifications/public.ts';
import { findDelivery, overdueWebhooks, trimDeliveries, wakeLane } from '#areas/webhooks/deliveries.store.ts';
import { type Claimed, claimNext, isTroubled, recordAttempt } from '#areas/webhooks/lane.store.ts';
import { openNetworks, webhookOutbound } from '#areas/webhooks/public.ts';
import { findOpened, open } from '#areas/webhooks/webhooks.store.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ringOf } from '#platform/keys.ts';
import type { OutboundSetting } from '#platform/outbound.ts';
import { enqueue } from '#platform/queue.ts';
import type { Work } from '../work.ts';
import { attempt } from './attempt.ts';

const GONE_LOOK_MS = 500;
/**
 * At most this many deliveries of the process wait for receivers that failed last time, so that they delay no others.
 */
const MOST_TROUBLED = 12;
const LATER_MS = 2000;

export interface Setting {
  clock?: () => Date;
  lookup?: OutboundSetting['lookup'];
}

/**
 * Job webhook.deliver. With `deliveryId` only that one; otherwise whatever the webhook's lane has due, until it is
 * empty.
 */
export function createDeliver({ clock = () => new Date(), lookup }: Setting = {}) {
  let troubled = 0;
  const sendOne = async (claimed: Claimed, work: Work): Promise<void> => {
    const { webhook, delivery } = claimed;
    const to = open(await ringOf(work.config.keysFile), webhook);
    const gone = goneSignal(work, delivery.id);
    const outbound = webhookOutbound(work.config, lookup && { lookup });
    const { id: deliveryId, event, format, body } = delivery;
    const slow = isTroubled(webhook) ? 1 : 0;
    troubled += slow;
    try {
      const ended = await attempt(
        { to, deliveryId, event, format, body: body ?? Buffer.alloc(0) },
        { outbound, open: openNetworks(work.config, work.settings), signal: gone.signal, clock, pod: work.config.pod },
      );
      await note(work, { webhookId: webhook.id, deliveryId, jobId: work.jobId, attempt: ended }, webhook.name);
    } finally {
      troubled -= slow;
      gone.stop();
    }
  };
  return async (payload: JobPayload<'webhook.deliver'>, work: Work): Promise<void> => {
    const { webhookId, deliveryId, due } = payload;
    const { db, jobId } = work;
    if (await isUnreadable(work, webhookId)) return; // nothing is lost: it waits until the webhook is saved again, or the key returns
    const early = due === undefined ? 0 : Date.parse(due) - clock().getTime();
    if (early > 0) return again(work, payload, early); // the queue uses the database's clock, which may be ahead
    for (;;) {
      work.signal.throwIfAborted(); // the job is released: another process continues the lane
      const roomForTroubled = troubled < MOST_TROUBLED;
      const claimed = await claimNext(db, { webhookId, deliveryId, jobId, now: clock(), roomForTroubled });
      if (claimed === undefined) return;
      if (claimed === 'later') return later(work, webhookId);
      await sendOne(claimed, work);
      if (deliveryId) return;
    }
  };
}

/** Whether no key of the ring opens its address or its signing secret. */
async function isUnreadable({ db, config }: Work, id: string): Promise<boolean> {
  const row = await db('webhooks').where({ id }).first();
  return row !== undefined && findOpened(await ringOf(config.keysFile), row) === undefined;
}

async function again({ db }: Work, payload: JobPayload<'webhook.deliver'>, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  await enqueue(db, 'webhook.deliver', { payload, options: { runAt, cause: 'retry', priority: 30 } });
}

/** A slot in this process will be free in a moment. */
async function later({ db }: Work, webhookId: string): Promise<void> {
  const runAt = new Date(Date.now() + LATER_MS);
  await enqueue(db, 'webhook.deliver', { payload: { webhookId }, options: { runAt, priority: 40 } });
}

async function note({ db }: Work, ended: Parameters<typeof recordAttempt>[1], name: string): Promise<void> {
  await db.transaction(async (transaction) => {
    const switchedOff = await recordAttempt(transaction, ended);
    if (!switchedOff) return;
    await notify(transaction, {
      kind: 'webhook-disabled',
      to: { permission: 'settings:manage' },
      target: { kind: 'webhook', id: ended.webhookId },
      data: { name },
    });
  });
}

/** Aborted when the delivery is deleted, so that deleting a webhook ends its request in flight. */
function goneSignal({ db }: Work, deliveryId: string): { signal: AbortSignal; stop: () => void } {
  const gone = new AbortController();
  const look = setInterval(() => {
    findDelivery(db, deliveryId).then(
      (row) => row ?? gone.abort(),
      () => undefined, // the database is unavailable: the request continues
    );
  }, GONE_LOOK_MS);
  return { signal: gone.signal, stop: () => clearInterval(look) };
}

/** Job webhook.trim: deletes expired rows, and wakes lanes whose job was lost. */
export async function trimWebhooks(_payload: unknown, { db }: Work): Promise<void> {
  await trimDeliveries(db);
  for (const webhookId of await overdueWebhooks(db)) await wakeLane(db, webhookId);
}
