import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { newId } from '#platform/ids.ts';
import { createAddressCheck, OutboundRefused } from '#platform/outbound.ts';
import { PushDraft, PushSetup, PushSubscription } from './notifications.schemas.ts';
import {
  findSubscription,
  isPoint,
  listSubscriptions,
  putSubscription,
  removeSubscription,
  toSubscription,
  unavailable,
} from './push.store.ts';

export const getPushSetup = defineEndpoint({
  operationId: 'getPushSetup',
  method: 'get',
  path: '/push',
  summary: 'The key that a browser subscribes with, and own subscriptions',
  access: { signedIn: true },
  answer: json(200, PushSetup),

  async handle(_input, { db, who, deps, client }) {
    const reason = unavailable(deps);
    const { vapid } = deps.keys;
    const rows = await listSubscriptions(db, who.profileId);
    return {
      available: reason === undefined,
      ...(reason && { unavailableReason: reason }),
      ...(vapid && { publicKey: vapid.publicKey, keyId: vapid.keyId }),
      subscriptions: rows.map((row) => toSubscription(row, client.id)),
    };
  },
});

export const subscribePush = defineEndpoint({
  operationId: 'subscribePush',
  method: 'post',
  path: '/push/subscriptions',
  summary: 'Have notifications sent to this device',
  access: { person: true },
  body: PushDraft,
  answer: json(201, PushSubscription),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
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
    if (body.test) await call.enqueue('push.send', { subscriptionId: id }, { priority: 5 });
    if (replaced) call.reply.status(200);
    const row = await findSubscription(db, id);
    if (!row) throw notFound();
    return toSubscription(row, client.id);
  },
});

export const unsubscribePush = defineEndpoint({
  operationId: 'unsubscribePush',
  method: 'delete',
  path: '/push/subscriptions/:id',
  summary: 'End a subscription of the own account',
  access: { signedIn: true },
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    if (!(await removeSubscription(db, who, params.id))) throw notFound();
  },
});

function refuseUnready({ deps }: Call, keyId: string): void {
  const cause = unavailable(deps);
  if (cause) throw conflict('push-unavailable', 'This server cannot send push messages', { cause });
  if (keyId !== deps.keys.vapid?.keyId) throw conflict('key-changed', 'Subscribe anew with the key of now');
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
    if (!(error instanceof OutboundRefused)) return; // a name that has no address now is judged again at sending
    throw invalid(['body', 'endpoint'], 'address_not_allowed', 'Push services are on the internet');
  }
}
