import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { install, remove } from './change.ts';
import { PlusFeatures, PlusStatus, SetPlusLicence } from './plus.schemas.ts';
import { readFeatures, readStatus } from './plus.view.ts';

export const getPlusStatus = defineEndpoint({
  operationId: 'getPlusStatus',
  method: 'get',
  path: '/plus',
  summary: 'Which paid features are open',
  access: { signedIn: true },
  answer: json(200, PlusStatus),

  async handle(_input, call) {
    const status = await readStatus(call);
    const { checkedAt: _moment, ...lasting } = status; // the time of the look is no other content
    answerUnlessSame(call, lasting);
    return status;
  },
});

export const listPlusFeatures = defineEndpoint({
  operationId: 'listPlusFeatures',
  method: 'get',
  path: '/plus/features',
  summary: 'What the paid features are, and what each needs one for',
  access: { signedIn: true },
  answer: json(200, PlusFeatures),

  async handle(_input, call) {
    return readFeatures(call);
  },
});

export const setPlusLicence = defineEndpoint({
  operationId: 'setPlusLicence',
  method: 'put',
  path: '/plus/licence',
  summary: 'Install a licence, or try one',
  access: { permission: 'settings:manage' },
  credentials: ['cookie', 'bearer'],
  body: SetPlusLicence,
  answer: json(200, PlusStatus),
  emits: ['settings.changed'],
  errors: ['CONFLICT', 'RATE_LIMITED'],

  async handle({ body }, call) {
    return install(call, body);
  },
});

export const removePlusLicence = defineEndpoint({
  operationId: 'removePlusLicence',
  method: 'delete',
  path: '/plus/licence',
  summary: 'Take the licence away; its features close at once',
  access: { permission: 'settings:manage' },
  credentials: ['cookie', 'bearer'],
  answer: none(),
  emits: ['settings.changed'],
  errors: ['CONFLICT'],

  async handle(_input, call) {
    await remove(call);
  },
});
