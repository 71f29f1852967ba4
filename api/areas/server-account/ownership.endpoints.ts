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
  summary: 'Get the owner of the server',
  description:
    'Returns the owner, the identity key of the server and the history of ownership. An open offer is included for the owner and for the account that it was made to.',
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
  summary: 'Offer the ownership to another admin',
  description:
    'Only the owner, with a confirmed session or the current password. The offer expires after seven days and changes nothing until it is accepted. It is 409 `not-an-admin` for other accounts and 409 `offer-open` while there is an offer.',
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
  summary: 'Accept the ownership of the server',
  description:
    'For the account that the offer was made to, with a confirmed session; others get 404. The roles are swapped in one transaction. It is 409 `sign-in-too-weak` without a sufficient sign-in method and 409 `offer-ended` for an offer that is no longer open. Repeating it after success returns the same.',
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
  summary: 'Withdraw or decline the ownership offer',
  description:
    'The owner withdraws the offer, the other account declines it; anyone else gets 403. Without an open offer it is 204.',
  access,
  credentials,
  answer: none(),
  emits: ['notification.created'],

  async handle(_input, call) {
    await cancel(call);
  },
});
