import { createHash } from 'node:crypto';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame, knowsEtag } from '#kernel/etag.ts';
import { IdParams } from '#kernel/schemas.ts';
import { groupOf, iconSlots, slotLabels } from '../built-in/slots.ts';
import { etagOf } from '../guards.ts';
import { IconSet, IconSetChange, IconSetDraft, IconSets, SetParams, WholeIconSet } from '../icons.schemas.ts';
import { readSets, readWholeSet } from '../icons.view.ts';
import { changeSet, createSet, deleteSet } from './change-set.ts';

const manages = { permission: 'library:manage' } as const;

function withEtag<T extends IconSet>(call: Call, set: T): T {
  call.reply.header('ETag', etagOf(set));
  return set;
}

/** Of the revision and the content: a fallback or the counts of uses may change without a new revision. */
function wholeEtag(set: WholeIconSet): string {
  const digest = createHash('sha256').update(JSON.stringify(set)).digest('base64url').slice(0, 8);
  return `"${set.revision}-${digest}"`;
}

export const listIconSets = defineEndpoint({
  operationId: 'listIconSets',
  method: 'get',
  path: '/icon-sets',
  summary: 'List icon sets and the slots of the interface',
  description: 'Built-in sets come first, then own ones by name. The answer carries an ETag.',
  access: { signedIn: true },
  answer: json(200, IconSets),

  async handle(_input, call) {
    const slots = iconSlots.map((slot) => ({ slot, label: slotLabels[slot], group: groupOf(slot) }));
    return answerUnlessSame(call, { ...(await readSets(call)), slots });
  },
});

export const createIconSet = defineEndpoint({
  operationId: 'createIconSet',
  method: 'post',
  path: '/icon-sets',
  summary: 'Create an icon set',
  description:
    'With `copyOf` the set begins with the icons of another one. With `validateOnly` nothing is stored: the answer is 200, and its id refers to no set. A fallback chain has at most 3 sets and does not lead back to itself. A 409 reports `duplicate-name` or `too-many`.',
  access: manages,
  body: IconSetDraft,
  answer: json(201, IconSet),
  also: [200],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const set = await createSet(call, body);
    if (body.validateOnly) call.reply.status(200);
    return withEtag(call, set);
  },
});

export const getIconSet = defineEndpoint({
  operationId: 'getIconSet',
  method: 'get',
  path: '/icon-sets/:id',
  summary: 'Get an icon set with its icons',
  description:
    'The id `active` stands for the set that the server shows. `slots` names an icon for every slot: of this set, of the sets that it falls back to, or of a built-in set. The answer carries an ETag.',
  access: { signedIn: true },
  params: SetParams,
  answer: json(200, WholeIconSet),

  async handle({ params }, call) {
    const set = await readWholeSet(call, params.id);
    const etag = wholeEtag(set);
    call.reply.header('ETag', etag);
    call.reply.header('Cache-Control', 'private, no-cache');
    if (knowsEtag(call.headers['if-none-match'], etag)) call.reply.status(304);
    return set;
  },
});

export const updateIconSet = defineEndpoint({
  operationId: 'updateIconSet',
  method: 'patch',
  path: '/icon-sets/:id',
  summary: 'Update an icon set, or make it the active one',
  description:
    '`active` switches the other sets off; it is the only member that a built-in set or a declared one takes. A 409 reports `revision`, `built-in`, `duplicate-name` or `managed-by-resource`.',
  access: manages,
  params: IdParams,
  body: IconSetChange,
  answer: json(200, IconSet),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params, body }, call) {
    return withEtag(call, await changeSet(call, params.id, body));
  },
});

export const deleteIconSet = defineEndpoint({
  operationId: 'deleteIconSet',
  method: 'delete',
  path: '/icon-sets/:id',
  summary: 'Delete an icon set with its icons',
  description:
    'Sets that fall back to it get its own fallback; libraries and types lose its icons. A 409 reports `icon-set-active`, `built-in`, `revision` or `managed-by-resource`.',
  access: manages,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    await deleteSet(call, params.id);
  },
});
