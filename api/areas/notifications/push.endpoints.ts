import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { PushDraft, PushSetup, PushSubscription } from './notifications.schemas.ts';
import { listSubscriptions, removeSubscription, toSubscription, unavailable } from './push.store.ts';
import { subscribe } from './subscribe-push.ts';

export const getPushSetup = defineEndpoint({
  operationId: 'getPushSetup',
  method: 'get',
  path: '/push',
  summary: 'Get the push key and subscriptions',
  description:
    'Returns the public key that a browser subscribes with, and the subscriptions of the profile. When push is unavailable, `available` is false with the reason.',
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
  summary: 'Subscribe this device to push messages',
  description:
    'Needs `X-Client-Id`; a device has one subscription, and sending it again replaces it with 200. A profile has at most 20, and the longest unused one is dropped. `test` sends a message at once. It is 409 `push-unavailable` or 409 `key-changed`, and 400 for an endpoint in a private network.',
  access: { person: true },
  body: PushDraft,
  answer: json(201, PushSubscription),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { row, replaced } = await subscribe(call, body);
    if (body.test) await call.enqueue('push.send', { subscriptionId: row.id }, { priority: 5 });
    if (replaced) call.reply.status(200);
    return toSubscription(row, call.client.id);
  },
});

export const unsubscribePush = defineEndpoint({
  operationId: 'unsubscribePush',
  method: 'delete',
  path: '/push/subscriptions/:id',
  summary: 'Remove a push subscription',
  description:
    'Works for every device of the own account. Messages on their way may still arrive. A subscription of another account is 404.',
  access: { signedIn: true },
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    if (!(await removeSubscription(db, who, params.id))) throw notFound();
  },
});
