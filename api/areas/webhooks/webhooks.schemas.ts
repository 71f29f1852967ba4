import { z } from 'zod';
import { pageQuery } from '#kernel/page.ts';
import { commaList, Id, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';
import { type SortTable, sortQuery } from '#kernel/sort.ts';
import { isSubscription } from './subscriptions.ts';

export const WebhookFormat = z.enum(['json', 'discord', 'slack', 'matrix', 'ntfy']);
export type WebhookFormat = z.output<typeof WebhookFormat>;
export const WebhookState = z.enum(['enabled', 'disabled', 'switched-off', 'owner-lost']);
export type WebhookState = z.output<typeof WebhookState>;
export const DeliveryState = z.enum(['waiting', 'sending', 'delivered', 'failed', 'superseded', 'dropped']);
export type DeliveryState = z.output<typeof DeliveryState>;

export const Webhook = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Chat of the household' }),
    url: z
      .string()
      .describe('The last path segment is masked for chat formats unless secret=true')
      .meta({ example: 'https://hooks.example/foyer' }),
    format: WebhookFormat,
    events: z.array(z.string()).meta({ example: ['item.added'] }),
    libraryIds: z.array(Id).optional().describe('Only events about these'),
    headerNames: z.array(z.string()).meta({ example: ['X-Household'] }),
    headers: z.record(z.string(), z.string()).optional().describe('Only with secret=true'),
    secret: z
      .string()
      .optional()
      .describe('Where it was made just now, and with secret=true')
      .meta({ example: 'JBSWY3DPEHPK3PXP' }),
    enabled: z.boolean(),
    state: WebhookState,
    stateReason: z.string().optional().meta({ example: 'it did not answer in time' }),
    failuresInARow: z.int().min(0).max(20),
    waiting: z.int().min(0).describe('Deliveries not yet done'),
    lastDelivery: z.object({ id: Id, at: Timestamp, state: DeliveryState, statusCode: z.int().optional() }).optional(),
    owner: z
      .object({ userId: Id, displayName: z.string().meta({ example: 'Ada' }) })
      .describe('With whose rights it acts'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.output<typeof Webhook>;

export const outcomes = [
  '2xx',
  'status',
  'timeout',
  'connection',
  'dns',
  'tls',
  'refused-address',
  'redirect',
  'too-large-answer',
] as const;

export const DeliveryAttempt = z
  .object({
    number: z.int().min(1).max(6),
    at: Timestamp,
    tookMs: z.int().min(0),
    outcome: z.enum(outcomes),
    statusCode: z.int().optional(),
    address: z.string().optional().describe('IP connected to').meta({ example: '192.0.2.17' }),
    responseHeaders: z.record(z.string(), z.string()).optional().describe('include=response'),
    responseBody: z.string().optional().describe('First 4 KiB as text; include=response'),
    pod: z.string().meta({ example: 'home-workers-0' }),
  })
  .meta({ id: 'DeliveryAttempt' });
export type DeliveryAttempt = z.output<typeof DeliveryAttempt>;

export const Delivery = z
  .object({
    id: Id.describe('The `X-Service-Delivery` value'),
    webhookId: Id,
    event: z.string().meta({ example: 'item.added' }),
    eventId: Id,
    state: DeliveryState,
    attempts: z.array(DeliveryAttempt).max(6),
    nextAttemptAt: Timestamp.optional(),
    redeliveryOf: Id.optional(),
    createdAt: Timestamp,
    finishedAt: Timestamp.optional(),
    body: z.string().optional().describe('The exact bytes as text, for 7 days; include=body'),
    sizeBytes: z.int().min(0).meta({ example: 4294967296 }),
  })
  .meta({ id: 'WebhookDelivery' });
export type Delivery = z.output<typeof Delivery>;

export const WebhookTest = z
  .object({
    delivery: Delivery,
    statusCode: z.int().optional(),
    body: z.string().optional().describe('First 4 KiB'),
    headers: z.record(z.string(), z.string()).optional(),
    signature: z.string().describe('As sent').meta({ example: 'v1=2f1a6cf0d2a54b0e' }),
    tookMs: z.int().min(0),
    ok: z.boolean(),
    reason: z.string().optional().describe('Outcome of the attempt, or no-worker'),
  })
  .meta({ id: 'WebhookTest' });
export type WebhookTest = z.output<typeof WebhookTest>;

export const WebhookList = z.object({
  items: z.array(Webhook),
  events: z.array(
    z.object({
      name: z.string().meta({ example: 'Films' }),
      family: z.string().meta({ example: 'item.*' }),
      description: z.string().meta({ example: 'An item is new in a library' }),
    }),
  ),
  formats: z.array(
    z.object({
      id: WebhookFormat,
      name: z.string().meta({ example: 'Films' }),
      urlHint: z.string().meta({ example: 'https://hooks.example/…' }),
    }),
  ),
});

const Url = z
  .string()
  .min(8)
  .max(2048)
  .refine((text) => URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol), {
    error: 'http or https',
    params: { code: 'invalid_url' },
  })
  .refine((text) => !URL.canParse(text) || !(new URL(text).username || new URL(text).password), {
    error: 'credentials do not belong in an address',
    params: { code: 'invalid_url' },
  });

const OURS = new Set([
  ...['host', 'content-length', 'content-type', 'transfer-encoding', 'connection', 'keep-alive', 'proxy-connection'],
  ...['proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade', 'expect', 'cookie', 'user-agent'],
]);
const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
  .refine((name) => !OURS.has(name.toLowerCase()) && !/^x-service-/i.test(name), {
    error: 'this header is set by the server',
    params: { code: 'reserved_header' },
  });
const HeaderValue = z.string().regex(/^[\x20-\x7e\x80-\xff]*$/);
export const MOST_HEADERS = 20;
export const MOST_HEADER_BYTES = 4096;

/** Bytes of all names and values. */
export const headerBytes = (headers: Readonly<Record<string, string>>): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);

const Headers = z
  .record(HeaderName, HeaderValue)
  .refine((all) => Object.keys(all).length <= MOST_HEADERS && headerBytes(all) <= MOST_HEADER_BYTES, {
    error: 'at most 20 headers and 4 KiB',
    params: { code: 'too_big' },
  });

const Events = z
  .array(
    z
      .string()
      .max(80)
      .refine(isSubscription, {
        error: 'no event or family that can be sent',
        params: { code: 'unknown_event' },
      }),
  )
  .min(1)
  .max(50)
  .transform((names) => [...new Set(names)]);
const Secret = z.string().min(16).max(256);
const LibraryIds = z.array(Id).max(100);
const Name = z.string().trim().min(1).max(80);

export const WebhookDraft = z.strictObject({
  name: Name.meta({ example: 'Chat of the household' }),
  url: Url.meta({ example: 'https://hooks.example/foyer' }),
  events: Events.meta({ example: ['item.added'] }),
  format: WebhookFormat.default('json'),
  libraryIds: LibraryIds.optional(),
  headers: Headers.optional(),
  secret: Secret.optional().meta({ example: 'JBSWY3DPEHPK3PXP' }),
  enabled: z.boolean().default(true),
});
export type WebhookDraft = z.output<typeof WebhookDraft>;

export const WebhookChange = z.strictObject({
  name: Name.optional(),
  url: Url.optional().meta({ example: 'https://hooks.example/foyer' }),
  events: Events.optional(),
  format: WebhookFormat.optional(),
  libraryIds: LibraryIds.nullable().optional(),
  headers: z
    .record(HeaderName, HeaderValue.nullable())
    .refine((all) => Object.keys(all).length <= 2 * MOST_HEADERS, { params: { code: 'too_big' } })
    .optional()
    .describe('Merged; null takes one away'),
  secret: Secret.nullable().optional().describe('null makes a new one').meta({ example: 'JBSWY3DPEHPK3PXP' }),
  enabled: z.boolean().optional(),
});
export type WebhookChange = z.output<typeof WebhookChange>;

export const WebhookQuery = z.object({ secret: queryBool.optional() });
export const TestBody = z.strictObject({ deliveryId: Id.optional().describe('Send this past delivery again') });

export const deliverySorts: SortTable = {
  createdAt: { column: 'd.created_at', type: 'timestamptz' },
  finishedAt: { column: 'd.finished_at', type: 'timestamptz', nullable: true },
};

export const DeliveriesQuery = z.object({
  ...pageQuery,
  sort: sortQuery(deliverySorts),
  include: commaList(z.enum(['body', 'response']), 2).optional(),
  state: commaList(DeliveryState, 6).optional(),
  event: z.string().max(80).optional(),
  since: Moment.optional(),
  until: Moment.optional(),
  deliveryId: Id.optional(),
});
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>;
