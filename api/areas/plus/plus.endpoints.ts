import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { install, remove } from './change.ts';
import { PlusFeatures, PlusStatus, SetPlusLicence } from './plus.schemas.ts';
import { readFeatures, readStatus } from './plus.view.ts';

export const getPlusStatus = defineEndpoint({
  operationId: 'getPlusStatus',
  method: 'get',
  path: '/plus',
  summary: 'Get the state of the licence',
  description:
    'Returns which paid features are open and until when. The licence itself is included with `settings:manage` only. The answer has an ETag.',
  access: { signedIn: true },
  answer: json(200, PlusStatus),

  async handle(_input, call) {
    const status = await readStatus(call);
    const { checkedAt: _moment, ...lasting } = status; // the ETag does not depend on the time of the check
    answerUnlessSame(call, lasting);
    return status;
  },
});

export const listPlusFeatures = defineEndpoint({
  operationId: 'listPlusFeatures',
  method: 'get',
  path: '/plus/features',
  summary: 'List the paid features',
  description:
    'Returns each feature in the language of the caller, the operations that need it, whether it is open, and what stays available when a licence ends.',
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
  summary: 'Install or test a licence',
  description:
    'Replaces the former licence at once; with `dryRun` nothing changes and the answer is the state that it would give. A licence that is neither active nor in its grace period is 400 with an issue code such as `licence_signature`. It is 409 `no-verifier` when no licence is needed and 409 `managed-by-resource` when a resource declares it.',
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
  summary: 'Remove the licence',
  description:
    'Its features close at once, without a grace period; nothing is deleted. Without a licence it is 204. It is 409 `managed-by-resource` when a resource declares the licence.',
  access: { permission: 'settings:manage' },
  credentials: ['cookie', 'bearer'],
  answer: none(),
  emits: ['settings.changed'],
  errors: ['CONFLICT'],

  async handle(_input, call) {
    await remove(call);
  },
});
