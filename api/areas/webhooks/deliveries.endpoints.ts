import { setTimeout as sleep } from 'node:timers/promises';
import { readerOf } from '#areas/events/public.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { IdParams } from '#kernel/schemas.ts';
import type { EventName } from '#platform/events.ts';
import { newId } from '#platform/ids.ts';
import { publish } from '#platform/outbox.ts';
import { type DeliveryRow, findDelivery, insertDelivery, selectDeliveries, toDelivery } from './deliveries.store.ts';
import { bodyOf } from './record.ts';
import { DeliveriesQuery, Delivery, deliverySorts, TestBody, WebhookTest } from './webhooks.schemas.ts';
import { findOpened, findWebhook, open, requireWebhook, signatureOf, type WebhookRow } from './webhooks.store.ts';

const TESTS_A_MINUTE = 10;
const WAIT_MS = 11_500;
const LOOK_MS = 100;

export const testWebhook = defineEndpoint({
  operationId: 'testWebhook',
  method: 'post',
  path: '/webhooks/:id/test',
  summary: 'Send a test or a past delivery',
  description:
    'A worker makes one attempt, and the answer has the response of the receiver within 12 seconds; its failure is 200 with `ok` false. With `deliveryId` the same bytes are sent again with a new delivery id (409 `body-gone` after seven days). A disabled webhook can be tested too. Ten a minute for a webhook.',
  access: { permission: 'settings:manage' },
  params: IdParams,
  body: TestBody,
  optionalBody: true,
  answer: json(200, WebhookTest),
  errors: ['CONFLICT', 'RATE_LIMITED'],
  emits: ['webhook.test'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const { redis, config, keys } = call.deps;
    const webhook = await findWebhook(call.db, params.id);
    if (!webhook) throw notFound();
    await limitAttempts({ redis, replicas: config.replicas }, `webhook-test:${webhook.id}`, TESTS_A_MINUTE);
    if (!findOpened(keys, webhook))
      throw conflict(
        'sealing-key-gone',
        'The sealing key of its values is gone: save address, secret and headers again',
      );
    const past = body?.deliveryId;
    const id = await call.transact((inside) => (past ? sendAgain(inside, webhook, past) : sendTest(inside, webhook)));
    return described(call, webhook, await afterAttempt(call, id));
  },
});

export const listDeliveries = defineEndpoint({
  operationId: 'listDeliveries',
  method: 'get',
  path: '/webhooks/:id/deliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Newest first unless `sort` is given. `include` adds the bodies of requests and responses. Deliveries are kept for 30 days and bodies for seven.',
  access: { permission: 'settings:manage' },
  params: IdParams,
  query: DeliveriesQuery,
  answer: page(Delivery),

  async handle({ params, query }, { db, deps }) {
    await requireWebhook(db, params.id);
    const { cursor, limit, sort, include = [], ...filter } = query;
    const shown = { body: include.includes('body'), response: include.includes('response') };
    return pageOf<DeliveryRow, Delivery>(db, selectDeliveries(db, params.id, filter), {
      keys: deps.keys,
      terms: parseSort(sort, deliverySorts, '-createdAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listDeliveries', params.id, filter, include]),
      idColumn: 'd.id',
      toItem: (row) => toDelivery(row, shown),
    });
  },
});

async function sendTest({ db, who, deps }: Call, webhook: WebhookRow): Promise<string> {
  const payload = { webhookId: webhook.id, byUserId: who.accountId };
  const event = await publish(db, 'webhook.test', { payload });
  const reader = await readerOf(db, who.accountId);
  if (!reader) throw notFound();
  const language = deps.settings.get('server.language');
  const body = await bodyOf(db, { event, format: webhook.format, language, reader });
  const id = newId();
  const { format } = webhook;
  await insertDelivery(db, {
    id,
    webhookId: webhook.id,
    kind: 'test',
    event: event.event,
    eventId: event.id,
    format,
    body,
  });
  return id;
}

async function sendAgain({ db }: Call, webhook: WebhookRow, pastId: string): Promise<string> {
  const past = await findDelivery(db, pastId);
  if (!past || past.webhook_id !== webhook.id) throw notFound();
  const { body, format } = past;
  if (!body) throw conflict('body-gone', 'Bodies are kept for seven days');
  const id = newId();
  await insertDelivery(db, {
    id,
    webhookId: webhook.id,
    kind: 'redelivery',
    event: past.event as EventName,
    eventId: past.event_id,
    format,
    redeliveryOf: past.id,
    body,
  });
  return id;
}

/** The delivery after its first attempt, or as it is when no worker took it in time. */
async function afterAttempt({ db, signal }: Call, id: string): Promise<DeliveryRow> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const row = await findDelivery(db, id);
    if (!row) throw notFound(); // its webhook was deleted in between
    if (row.attempts.length > 0 || performance.now() > end || signal.aborted) return row;
    await sleep(LOOK_MS);
  }
}

async function described({ db, deps }: Call, webhook: WebhookRow, row: DeliveryRow): Promise<WebhookTest> {
  const [attempt] = row.attempts;
  const now = (await findWebhook(db, webhook.id)) ?? webhook;
  const signature = signatureOf(open(deps.keys, now).secret, row.body ?? Buffer.alloc(0));
  const shown = { delivery: toDelivery(row, { body: true, response: true }), signature };
  if (!attempt) return { ...shown, tookMs: 0, ok: false, reason: 'no-worker' };
  const { statusCode, responseBody, responseHeaders, tookMs, outcome } = attempt;
  return {
    ...shown,
    tookMs,
    ok: outcome === '2xx',
    ...(statusCode !== undefined && { statusCode }),
    ...(responseBody !== undefined && { body: responseBody }),
    ...(responseHeaders && { headers: responseHeaders }),
    ...(outcome !== '2xx' && { reason: outcome }),
  };
}
