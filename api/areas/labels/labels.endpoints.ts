import { requirePermission } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { replaceAccess } from './access.store.ts';
import { changeLabel } from './change-label.ts';
import { DeleteLabelQuery, Label, LabelChange, LabelDraft, LabelsQuery } from './labels.schemas.ts';
import { getLabel, insertLabel, lockLabel, toLabel } from './labels.store.ts';
import { listVisible } from './list-labels.ts';
import { removeLabel } from './remove-label.ts';

export const listLabels = defineEndpoint({
  operationId: 'listLabels',
  method: 'get',
  path: '/labels',
  summary: 'List the labels that the caller may see',
  description:
    'Sorted by name unless `sort` is given. With `itemId` the answer has the own and the inherited labels of the item. `include=access` needs `user:manage`. Members without `item:edit` or `user:manage` see only labels that restrict no one.',
  access: { permission: 'library:view' },
  query: LabelsQuery,
  answer: page(Label),
  errors: ['NOT_FOUND'],

  async handle({ query }, call) {
    return listVisible(call, query);
  },
});

export const createLabel = defineEndpoint({
  operationId: 'createLabel',
  method: 'post',
  path: '/labels',
  summary: 'Create a label',
  description:
    'It is 409 `duplicate-name` in any letter case and 409 `too-many-labels` at 500. Without a color the next of twelve is used. A restricted label needs `user:manage` and is visible to its creator alone until its access is set.',
  access: { permission: 'item:edit' },
  body: LabelDraft,
  answer: json(201, Label),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who } = call;
    if (body.restricted) requirePermission(who, 'user:manage');
    const { id, number } = await insertLabel(db, body);
    if (body.restricted) {
      const allow = who.role === 'owner' ? [] : [{ userId: who.accountId }];
      await replaceAccess(db, number, { restricted: true, allow, deny: [], only: [] });
    }
    await audit(call, 'label.created', { labelId: id, name: body.name, restricted: body.restricted });
    // the rights of the caller were read before the label existed, so it is not hidden from them
    return toLabel(await getLabel(db, who, id));
  },
});

export const updateLabel = defineEndpoint({
  operationId: 'updateLabel',
  method: 'patch',
  path: '/labels/:id',
  summary: 'Change a label or merge it',
  description:
    '`mergeInto` moves its items, filters and access rules to another label and deletes this one. Renaming or merging a label that restricts needs `user:manage`. A name in use is 409 `duplicate-name`.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: LabelChange,
  answer: json(200, Label),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const id = await changeLabel(call, await lockLabel(call.db, call.who, params.id), body);
    return toLabel(await getLabel(call.db, call.who, id));
  },
});

export const deleteLabel = defineEndpoint({
  operationId: 'deleteLabel',
  method: 'delete',
  path: '/labels/:id',
  summary: 'Delete a label',
  description:
    'A label that restricts needs `user:manage` and its name in `confirm`, because deleting it shows what it hid (409 `label-restricts` otherwise). An account whose last only-label it was sees nothing until its access is set.',
  access: { permission: 'item:edit' },
  params: IdParams,
  query: DeleteLabelQuery,
  answer: none(),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, query }, call) {
    await removeLabel(call, await lockLabel(call.db, call.who, params.id), query.confirm);
  },
});
