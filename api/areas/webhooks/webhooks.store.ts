import { createHmac } from 'node:crypto';
import { conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId, newSecret } from '#platform/ids.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import { withoutTail } from '#platform/text.ts';
import type { Row, Update } from '#platform/typed-query.ts';
import type { DeliveryState, Webhook, WebhookDraft, WebhookState } from './webhooks.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'webhooks.last_delivery': { id: string; at: string; state: DeliveryState; statusCode?: number };
  }
}

export const MOST_WEBHOOKS = 100;
export const MOST_FAILURES = 20;

export type WebhookRow = Row<'webhooks'>;

export interface HeldWebhook extends WebhookRow {
  /** The account of the owner has expired. */
  expired: boolean;
}

export interface ListedWebhook extends HeldWebhook {
  waiting: number;
}

/** Webhooks with the fields of their deliveries and owner. */
export function selectWebhooks(db: Db) {
  return db('webhooks as w')
    .leftJoin('accounts as a', 'a.id', 'w.owner_id')
    .select(
      'w.*',
      db.raw('coalesce(a.display_name, w.owner_name) as owner_name'),
      db.raw('coalesce(a.expires_at <= now(), false) as expired'),
      db.raw(`(select count(*)::int from webhook_deliveries d where d.webhook_id = w.id and d.state in ('waiting', 'sending'))
        as waiting`),
    );
}

export async function listWebhookRows(db: Db): Promise<ListedWebhook[]> {
  return selectWebhooks(db).orderByRaw('lower(w.name), w.id');
}

export async function findWebhook(db: Db, id: string): Promise<ListedWebhook | undefined> {
  const [row] = await selectWebhooks(db).where('w.id', id);
  return row;
}

/** Locks the row until the transaction ends, without blocking the insertion of deliveries. */
export async function lockWebhook(db: Db, id: string): Promise<HeldWebhook | undefined> {
  return db('webhooks')
    .where({ id })
    .forNoKeyUpdate()
    .first(
      '*',
      db.raw('exists (select from accounts a where a.id = webhooks.owner_id and a.expires_at <= now()) as expired'),
    );
}

/** Throws 404. */
export async function requireWebhook(db: Db, id: string): Promise<void> {
  if (!(await db('webhooks').where({ id }).first('id'))) throw notFound();
}

/** Returns the secret when it was generated here. Throws 409 `webhook-limit`. */
export async function insertWebhook(
  db: Db,
  keys: Keys,
  draft: WebhookDraft & { owner: { id: string; name: string } },
): Promise<{ id: string; generated: string | undefined }> {
  if ((await countWebhooks(db)) >= MOST_WEBHOOKS)
    throw conflict('webhook-limit', `A server has at most ${MOST_WEBHOOKS} webhooks`);
  const { name, url, headers = {}, format, events, enabled, libraryIds, owner } = draft;
  const id = newId();
  const generated = draft.secret === undefined ? newSecret('') : undefined;
  const sealed = sealerFor(keys, id);
  await db('webhooks').insert({
    ...{ id, name, format, events, enabled },
    url: sealed('url', url),
    headers: sealed('headers', JSON.stringify(headers)),
    header_names: Object.keys(headers),
    secret: sealed('secret', draft.secret ?? generated ?? ''),
    library_ids: libraryIds?.length ? libraryIds : null,
    owner_id: owner.id,
    owner_name: owner.name,
  });
  return { id, generated };
}

export async function updateWebhookRow(db: Db, id: string, change: Update<'webhooks'>): Promise<void> {
  await db('webhooks').where({ id }).update(change);
}

/** Deletes a webhook with its deliveries and returns its name. */
export async function removeWebhook(db: Db, id: string): Promise<string | undefined> {
  const [row] = await db('webhooks').where({ id }).delete().returning('name');
  return row?.name;
}

/** Counts under a lock, so that concurrent requests cannot exceed the limit together. */
async function countWebhooks(db: Db): Promise<number> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', ['webhooks']);
  const [row] = await db('webhooks').count<{ count: number }[]>('* as count');
  return row?.count ?? 0;
}

export function stateOf(
  row: Pick<WebhookRow, 'enabled' | 'switched_off_at' | 'owner_lost'>,
  expired = false,
): WebhookState {
  if (row.owner_lost || expired) return 'owner-lost';
  if (row.switched_off_at) return 'switched-off';
  return row.enabled ? 'enabled' : 'disabled';
}

type Sealed = 'url' | 'headers' | 'secret';
const placeOf = (id: string, column: Sealed): string => `webhooks|${column}|${id}`;

export const sealerFor =
  (keys: Keys, id: string) =>
  (column: Sealed, text: string): string =>
    seal(keys, text, placeOf(id, column));

export interface Opened {
  url: string;
  headers: Record<string, string>;
  secret: string;
}

/** The unsealed values; one whose sealing key is missing is absent. */
export function openedParts(keys: Keys, row: Pick<WebhookRow, 'id' | Sealed>): Partial<Opened> {
  const read = (column: Sealed): string | undefined => {
    const sealed = row[column];
    return sealed === null ? '{}' : unseal(keys, sealed, placeOf(row.id, column));
  };
  const [url, secret, headers] = [read('url'), read('secret'), read('headers')];
  return {
    ...(url !== undefined && { url }),
    ...(secret !== undefined && { secret }),
    ...(headers !== undefined && { headers: JSON.parse(headers) as Record<string, string> }),
  };
}

/** Undefined when the sealing key of any value is missing. */
export function findOpened(keys: Keys, row: Pick<WebhookRow, 'id' | Sealed>): Opened | undefined {
  const { url, secret, headers } = openedParts(keys, row);
  return url === undefined || secret === undefined || headers === undefined ? undefined : { url, secret, headers };
}

/** Throws when a sealing key is missing, because nothing can be sent then. */
export function open(keys: Keys, row: Pick<WebhookRow, 'id' | Sealed>): Opened {
  const opened = findOpened(keys, row);
  if (!opened) throw new Error('the sealing key of a webhook is missing');
  return opened;
}

/** `X-Service-Signature` over the raw bytes of the body. */
export const signatureOf = (secret: string, body: Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

const REASONS: Partial<Record<WebhookState, string>> = {
  'switched-off': `${MOST_FAILURES} deliveries in a row failed`,
  'owner-lost': 'The account it acts for may no longer manage settings; saving takes it over',
};

const UNREADABLE = 'Its sealing key is missing, and deliveries wait; save address, secret and headers again';

/** With `shown`, includes the secret, the whole address and the header values. */
export function toWebhook(keys: Keys, row: ListedWebhook, shown = false): Webhook {
  const state = stateOf(row, row.expired);
  const opened = findOpened(keys, row);
  const reason = opened ? REASONS[state] : UNREADABLE;
  return {
    id: row.id,
    name: row.name,
    url: addressOf(row, opened, shown),
    format: row.format,
    events: row.events,
    ...(row.library_ids && { libraryIds: row.library_ids }),
    headerNames: row.header_names,
    ...(shown && opened && { headers: opened.headers, secret: opened.secret }),
    enabled: row.enabled,
    state,
    ...(reason && { stateReason: reason }),
    failuresInARow: row.failures,
    waiting: row.waiting,
    ...(row.last_delivery && { lastDelivery: row.last_delivery }),
    owner: { userId: row.owner_id, displayName: row.owner_name },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

const MASK = '***';

function addressOf({ format }: ListedWebhook, opened: Opened | undefined, shown: boolean): string {
  if (!opened) return MASK;
  return shown || format === 'json' ? opened.url : masked(opened.url);
}

/** Masks the last path segment and the query, which contain the key of a chat room. */
export function masked(text: string): string {
  const url = new URL(text);
  const bare = withoutTail(url.pathname, '/');
  if (bare !== '') url.pathname = bare.slice(0, bare.lastIndexOf('/') + 1) + MASK + url.pathname.slice(bare.length);
  if (url.search) url.search = `?${MASK}`;
  return url.href;
}

export function isMasked(text: string): boolean {
  const url = URL.parse(text);
  return url?.search === `?${MASK}` || withoutTail(url?.pathname ?? '', '/').endsWith(`/${MASK}`);
}
