import { ECDH } from 'node:crypto';
import type { Principal } from '#identity/principal.ts';
import type { Deps } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, seal, sha256, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import type { PushSubscription } from './notifications.schemas.ts';

export const MOST_DEVICES = 20;
export const MOST_FAILURES = 20;

export type SubscriptionRow = Row<'push_subscriptions'>;

export type Cause = 'not-https' | 'no-keys' | 'disabled';

/** Reason why push is unavailable; undefined when it is available. */
export function unavailable({ settings, keys }: Pick<Deps, 'settings' | 'keys'>): Cause | undefined {
  if (!settings.get('push.enabled')) return 'disabled';
  if (!settings.get('server.publicUrl')?.startsWith('https://')) return 'not-https';
  return keys.vapid ? undefined : 'no-keys';
}

/** Subscriptions of the profile that accept messages. */
export async function hasPushDevice(db: Db, profileId: string): Promise<string[]> {
  return db('push_subscriptions').where({ profile_id: profileId }).whereNot({ state: 'expired' }).pluck('id');
}

export async function listSubscriptions(db: Db, profileId: string): Promise<SubscriptionRow[]> {
  return db('push_subscriptions').where({ profile_id: profileId }).orderBy(['created_at', 'id']);
}

export async function findSubscription(db: Db, id: string): Promise<SubscriptionRow | undefined> {
  return db('push_subscriptions').where({ id }).first();
}

export function toSubscription(row: SubscriptionRow, clientId: string | undefined): PushSubscription {
  return {
    id: row.id,
    thisDevice: row.client_id === clientId,
    deviceName: row.device_name,
    ...(row.platform && { platform: row.platform }),
    service: row.service,
    keyId: row.key_id,
    state: row.state,
    failures: row.failures,
    createdAt: row.created_at.toISOString(),
    ...(row.last_sent_at && { lastSentAt: row.last_sent_at.toISOString() }),
    ...(row.last_error && { lastError: row.last_error }),
  };
}

export interface NewSubscription {
  id: string;
  who: Principal & { sessionId: string };
  clientId: string;
  deviceName: string;
  endpoint: string;
  keys: { p256dh: string; auth: string };
  keyId: string;
}

const placeOf = (id: string, column: 'endpoint' | 'keys'): string => `push_subscriptions|${column}|${id}`;

/** Stores a subscription; true when it replaced one of the device. It takes the endpoint over from another account. */
export async function putSubscription(db: Db, ring: Keys, made: NewSubscription): Promise<boolean> {
  const { who, clientId, endpoint } = made;
  const hash = sha256(endpoint);
  const replaced = await db('push_subscriptions').where({ account_id: who.accountId, client_id: clientId }).delete();
  await db('push_subscriptions').where({ endpoint_sha256: hash }).delete();
  const device = await db('devices').where({ account_id: who.accountId, client_id: clientId }).first('platform');
  await db('push_subscriptions').insert({
    id: made.id,
    account_id: who.accountId,
    profile_id: who.profileId,
    session_id: who.sessionId,
    client_id: clientId,
    device_name: made.deviceName,
    platform: device?.platform ?? null,
    endpoint: seal(ring, endpoint, placeOf(made.id, 'endpoint')),
    endpoint_sha256: hash,
    keys: seal(ring, JSON.stringify(made.keys), placeOf(made.id, 'keys')),
    service: new URL(endpoint).host,
    key_id: made.keyId,
  });
  await db.raw(
    `delete from push_subscriptions where id in (select id from push_subscriptions where profile_id = ? and id <> ?
       order by coalesce(last_sent_at, created_at) desc, id desc offset ?)`,
    [who.profileId, made.id, MOST_DEVICES - 1],
  );
  return replaced > 0;
}

/** Endpoint and keys; undefined when their sealing key is missing. */
export function openSubscription(
  ring: Keys,
  row: SubscriptionRow,
): { endpoint: string; keys: { p256dh: string; auth: string } } | undefined {
  const endpoint = unseal(ring, row.endpoint, placeOf(row.id, 'endpoint'));
  const keys = unseal(ring, row.keys, placeOf(row.id, 'keys'));
  if (endpoint === undefined || keys === undefined) return undefined;
  return { endpoint, keys: JSON.parse(keys) as { p256dh: string; auth: string } };
}

/** Whether the text is an uncompressed point of P-256. */
export function isPoint(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}

/** Deletes a subscription; false when it never belonged to the account. */
export async function removeSubscription(db: Db, who: Principal, id: string): Promise<boolean> {
  if ((await db('push_subscriptions').where({ id, account_id: who.accountId }).delete()) > 0) return true;
  const gone = await db('notifications_gone').where({ id, account_id: who.accountId }).first('id');
  return gone !== undefined;
}

/** Marks a subscription as expired and deletes its pending messages. */
export async function endSubscription(db: Db, id: string, why: string): Promise<void> {
  await db('push_subscriptions').where({ id }).update({ state: 'expired', last_error: why });
  await db('push_messages').where({ subscription_id: id }).delete();
}
