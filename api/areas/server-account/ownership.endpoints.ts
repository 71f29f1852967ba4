import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { AcceptServerClaim, OfferServerClaim, ServerClaim } from './ownership.schemas.ts';
import { readClaim } from './ownership.view.ts';
import { accept, cancel, offer, proveOwner } from './transfer.ts';

const access = { permission: 'settings:manage' } as const;
const credentials = ['cookie', 'bearer'] as const;

export const getServerClaim = defineEndpoint({
  operationId: 'getServerClaim',
  method: 'get',
  path: '/claim',
  summary: 'Who owns this server, and since when',
  access,
  answer: json(200, ServerClaim),
  errors: ['NOT_FOUND'],

  async handle(_input, call) {
    return readClaim(call);
  },
});

export const offerServerClaim = defineEndpoint({
  operationId: 'offerServerClaim',
  method: 'post',
  path: '/claim',
  summary: 'Offer the server to another admin',
  access,
  credentials,
  body: OfferServerClaim,
  answer: json(201, ServerClaim),
  emits: ['notification.created'],

  async handle({ body }, call) {
    await proveOwner(call, body.currentPassword);
    await offer(call, body);
    return readClaim(call);
  },
});

export const acceptServerClaim = defineEndpoint({
  operationId: 'acceptServerClaim',
  method: 'put',
  path: '/claim',
  summary: 'Take the server that was offered to me',
  access,
  credentials,
  body: AcceptServerClaim,
  answer: json(200, ServerClaim),
  emits: ['notification.created'],
  errors: ['NOT_FOUND', 'CONFLICT'],

  async handle({ body }, call) {
    await accept(call, body.offerId);
    return readClaim(call);
  },
});

export const cancelServerClaim = defineEndpoint({
  operationId: 'cancelServerClaim',
  method: 'delete',
  path: '/claim',
  summary: 'Withdraw the offer, or decline it',
  access,
  credentials,
  answer: none(),
  emits: ['notification.created'],

  async handle(_input, call) {
    await cancel(call);
  },
});
