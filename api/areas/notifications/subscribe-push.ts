import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { createAddressCheck, OutboundRefused } from '#platform/outbound.ts';
import type { PushDraft } from './notifications.schemas.ts';
import { findSubscription, isPoint, putSubscription, type SubscriptionRow, unavailable } from './push.store.ts';

/** Stores the subscription of this device; `replaced` when it had one. Throws 409 `push-unavailable` and `key-changed`. */
export async function subscribe(call: Call, body: PushDraft): Promise<{ row: SubscriptionRow; replaced: boolean }> {
  const { db, who, deps, client } = call;
  const { sessionId } = who;
  if (!client.id || !sessionId) throw invalid(['headers', 'x-client-id'], 'required', 'A device needs its id');
  refuseKeys(body);
  await refuseAddress(call, body.endpoint);
  refuseUnready(call, body.keyId);
  const id = newId();
  const replaced = await putSubscription(db, deps.keys, {
    id,
    who: { ...who, sessionId },
    clientId: client.id,
    deviceName: body.deviceName ?? client.name ?? 'Browser',
    endpoint: body.endpoint,
    keys: body.keys,
    keyId: body.keyId,
  });
  const row = await findSubscription(db, id);
  if (!row) throw notFound();
  return { row, replaced };
}

function refuseUnready({ deps }: Call, keyId: string): void {
  const cause = unavailable(deps);
  if (cause) throw conflict('push-unavailable', 'This server cannot send push messages', { cause });
  if (keyId !== deps.keys.vapid?.keyId) throw conflict('key-changed', 'Subscribe again with the current key');
}

function refuseKeys({ keys }: PushDraft): void {
  if (!isPoint(keys.p256dh)) throw invalid(['body', 'keys', 'p256dh'], 'bad_key', 'not a point of P-256');
  if (Buffer.from(keys.auth, 'base64url').length !== 16)
    throw invalid(['body', 'keys', 'auth'], 'bad_key', 'not 16 bytes');
}

async function refuseAddress({ deps }: Call, endpoint: string): Promise<void> {
  try {
    await createAddressCheck({ deny: deps.config.clusterNetworks })(endpoint);
  } catch (error) {
    if (!(error instanceof OutboundRefused)) return; // a name without an address is checked again at sending
    throw invalid(['body', 'endpoint'], 'address_not_allowed', 'Push services are on the internet');
  }
}
