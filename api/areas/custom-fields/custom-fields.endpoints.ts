import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeField, deleteField } from './change-field.ts';
import { createField } from './create-field.ts';
import {
  ChangedField,
  CustomField,
  CustomFields,
  FieldChange,
  FieldDraft,
  FieldsQuery,
} from './custom-fields.schemas.ts';
import { readFields } from './custom-fields.view.ts';

const manages = { permission: 'settings:manage' } as const;

export const listCustomFields = defineEndpoint({
  operationId: 'listCustomFields',
  method: 'get',
  path: '/custom-fields',
  summary: 'List the custom fields of items',
  description:
    'Returns the fields that the caller may see, of libraries that they may see, by group and order. Fields with audience `editors` are shown with `item:edit` only. `counts` adds an estimate of their values. The answer carries an ETag.',
  access: { permission: 'library:view' },
  query: FieldsQuery,
  answer: json(200, CustomFields),
  errors: ['NOT_FOUND'],

  async handle({ query }, call) {
    return answerUnlessSame(call, { items: await readFields(call, query) });
  },
});

export const createCustomField = defineEndpoint({
  operationId: 'createCustomField',
  method: 'post',
  path: '/custom-fields',
  summary: 'Create a custom field',
  description:
    'Items of the named types get one more value, written by updateItem, read with `include=custom` and filtered as `custom.<key>`. With `restore` a field of the same key and kind that was deleted within 30 days comes back with its values. With `validateOnly` nothing is stored and the answer is 200. A 400 `reserved` names built-in fields, members that the kind lacks, and libraries without the item types. A 409 reports `duplicate-key` or `too-many`.',
  access: manages,
  body: FieldDraft,
  answer: json(201, CustomField),
  also: [200],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    if (body.validateOnly) call.reply.status(200);
    return createField(call, body);
  },
});

export const updateCustomField = defineEndpoint({
  operationId: 'updateCustomField',
  method: 'patch',
  path: '/custom-fields/:id',
  summary: 'Change a custom field',
  description:
    'The key is fixed, and the kind only widens: text to long-text, choice to choices or text, number or rating to text, boolean to choice. `options` is the whole list; an option in use goes only with `replaceBy`, which names another or null. Values outside of narrower bounds stay and are counted. A 409 reports `kind-narrows`, `option-in-use` with details.count, `too-many`, `revision` or `managed-by-resource`.',
  access: manages,
  params: IdParams,
  body: FieldChange,
  answer: json(200, ChangedField),
  errors: ['CONFLICT'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return changeField(call, params.id, body);
  },
});

export const deleteCustomField = defineEndpoint({
  operationId: 'deleteCustomField',
  method: 'delete',
  path: '/custom-fields/:id',
  summary: 'Delete a custom field',
  description:
    'The field is gone from every answer at once; its values are removed 30 days later, and `restore` of createCustomField brings them back until then. A 409 reports `managed-by-resource` or `revision`.',
  access: manages,
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    await deleteField(call, params.id);
  },
});
