import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { answerType } from './answers.ts';
import { changeType, createType, deleteType } from './change-type.ts';
import {
  ChangedType,
  CreatedType,
  LibraryType,
  LibraryTypes,
  TypeChange,
  TypeDraft,
  TypeParams,
  TypesQuery,
} from './library-types.schemas.ts';
import { readType, readTypes } from './library-types.view.ts';

const manages = { permission: 'settings:manage' } as const;
/** 64 KiB of a type, and 200 names to try. */
const BODY_BYTES = 262_144;

export const listLibraryTypes = defineEndpoint({
  operationId: 'listLibraryTypes',
  method: 'get',
  path: '/library-types',
  summary: 'List the types of libraries',
  description:
    'Built-in types come first, then own ones by name. A level names in `baseType` the built-in item type that it is drawn and played like, so a client can show libraries of types that it never heard of. Without `library:manage` an answer has names, icon, views and, for types of visible libraries, levels; with it also rules and counts. The answer carries an ETag.',
  access: { permission: 'library:view' },
  query: TypesQuery,
  answer: json(200, LibraryTypes),

  async handle({ query }, call) {
    return answerUnlessSame(call, { items: await readTypes(call, query.source) });
  },
});

export const createLibraryType = defineEndpoint({
  operationId: 'createLibraryType',
  method: 'post',
  path: '/library-types',
  summary: 'Create a type of libraries',
  description:
    'Absent rules come from `copyOf`, else from the base. A type is data: it is scanned, probed, played and read like its base. With `validateOnly` nothing is stored and the answer is 200 with the item that each of `tryNames` would become; no file is read. A 400 lists every fault: `unknown_placeholder`, `role_base`, `sample_mismatch`, `unknown_extension` among them. A 409 reports `duplicate-key` or `too-many`.',
  access: manages,
  body: TypeDraft,
  maxBodyBytes: BODY_BYTES,
  answer: json(201, CreatedType),
  also: [200],
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ body }, call) {
    if (body.validateOnly) call.reply.status(200);
    return answerType(call, await createType(call, body));
  },
});

export const getLibraryType = defineEndpoint({
  operationId: 'getLibraryType',
  method: 'get',
  path: '/library-types/:key',
  summary: 'Get a type of libraries',
  description:
    'The key is whole, `custom:` included. The answer is reduced as in the list without `library:manage`, and carries an ETag.',
  access: { permission: 'library:view' },
  params: TypeParams,
  answer: json(200, LibraryType),

  async handle({ params }, call) {
    return answerType(call, await readType(call, params.key));
  },
});

export const updateLibraryType = defineEndpoint({
  operationId: 'updateLibraryType',
  method: 'patch',
  path: '/library-types/:key',
  summary: 'Change a type of libraries',
  description:
    "Lists and groups replace the stored ones as a whole. The number of levels and their item types are fixed while a library has it. A change of files or naming makes the next full scan of the type's libraries, by hand or in the night, read every name again; a running scan ends by the rules with which it began. With `validateOnly` nothing is stored and `affected` says what would be. A 409 reports `revision`, `built-in`, `managed-by-resource` or `type-in-use`.",
  access: manages,
  params: TypeParams,
  body: TypeChange,
  maxBodyBytes: BODY_BYTES,
  answer: json(200, ChangedType),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params, body }, call) {
    return answerType(call, await changeType(call, params.key, body));
  },
});

export const deleteLibraryType = defineEndpoint({
  operationId: 'deleteLibraryType',
  method: 'delete',
  path: '/library-types/:key',
  summary: 'Delete a type of libraries',
  description:
    'A type that libraries have is 409 `type-in-use` with their ids and names. Media files are never touched. Other 409 reasons are `built-in`, `managed-by-resource` and `revision`.',
  access: manages,
  params: TypeParams,
  answer: none(),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params }, call) {
    await deleteType(call, params.key);
  },
});
