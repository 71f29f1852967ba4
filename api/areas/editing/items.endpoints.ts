import { getVisibleItem, ItemDetail, itemDetail } from '#areas/items/public.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { deleteItemOf } from './delete-item.ts';
import { editItem } from './edit-item.ts';
import {
  DeleteItemQuery,
  EditQuery,
  FieldOrigins,
  ItemEdit,
  LockedFields,
  LocksPut,
  MergeRequest,
  MergeResult,
  SplitRequest,
  SplitResult,
} from './editing.schemas.ts';
import { replaceLocks } from './locks.ts';
import { mergeItemsInto } from './merge-items.ts';
import { originsOf } from './origins.ts';
import { splitFiles } from './split-item.ts';

const edits = { permission: 'item:edit' } as const;

export const updateItem = defineEndpoint({
  operationId: 'updateItem',
  method: 'patch',
  path: '/items/:id',
  summary: 'Edit the fields of an item',
  description:
    'A value locks its field, unless `lock` is false; null returns a field to its sources and unlocks it. A field that the type lacks is 400. Unknown genres, tags, studios and people are made, labels must exist. 409 reasons: `revision` (If-Match names another revision; details.fields are those of the edit that differ), `use-match` (ids of another title), `number-taken`, `hides-from-you` (labels that hide the item from the caller, without `confirm`; with it the answer is 404).',
  access: edits,
  params: IdParams,
  query: EditQuery,
  body: ItemEdit,
  answer: json(200, ItemDetail),
  errors: ['CONFLICT'],
  emits: ['item.updated'],
  transaction: 'manual',

  async handle({ params, query, body }, call) {
    const options = { edit: body, lock: query.lock ?? true, confirm: query.confirm ?? false };
    await call.transact((inside) => editItem(inside, params.id, options));
    return itemDetail(call, await getVisibleItem(call.db, call.who, params.id), { include: [] });
  },
});

export const deleteItem = defineEndpoint({
  operationId: 'deleteItem',
  method: 'delete',
  path: '/items/:id',
  summary: 'Move an item to the trash',
  description:
    'With its children, as `deleted`; restoreTrash brings it back. The files stay where they are, and no scan adds the item again. With `files=trash` they move to `.foyer-trash` of their storage, which needs `library:manage`; 409 `file-deletion-off` while the library does not allow it, 409 `read-only` on a read-only storage. With `fileId` only that edition leaves; the last edition is the item. Streams of the item end within 60 seconds.',
  access: edits,
  params: IdParams,
  query: DeleteItemQuery,
  answer: none(),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['item.deleted', 'item.updated'],

  async handle({ params, query }, call) {
    await deleteItemOf(call, params.id, query);
  },
});

export const mergeItems = defineEndpoint({
  operationId: 'mergeItems',
  method: 'post',
  path: '/items/bulk/merge',
  summary: 'Merge items into one',
  description:
    'The others become editions of `intoId`; containers merge child by child, and the same number or name becomes one. The newest position, the highest play count and rating of each person remain. Old ids keep answering, and later scans keep the merge. Items of another type or library are 409 `type-differs`, more than 5,000 children 409 `too-large`.',
  access: edits,
  body: MergeRequest,
  answer: json(200, MergeResult),
  errors: ['CONFLICT'],
  emits: ['item.updated', 'item.deleted'],
  transaction: 'manual',

  async handle({ body }, call) {
    return mergeItemsInto(call, body);
  },
});

export const splitItem = defineEndpoint({
  operationId: 'splitItem',
  method: 'post',
  path: '/items/:id/match/split',
  summary: 'Take files out of an item',
  description:
    'The files go to another item of the library, or to a new one, which is named by its files and identified again. Later scans leave each file there, also when it moves. What a person left stays with the item whose file they played last. All files without a target are 409 `nothing-left`; all files with one make the item part of the target. A target of another type or library is 409 `type-differs`.',
  access: edits,
  params: IdParams,
  body: SplitRequest,
  answer: json(200, SplitResult),
  errors: ['CONFLICT'],
  emits: ['item.updated', 'item.added', 'item.deleted'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return splitFiles(call, params.id, body);
  },
});

export const getItemFields = defineEndpoint({
  operationId: 'getItemFields',
  method: 'get',
  path: '/items/:id/locks',
  summary: 'List editable fields with their origin',
  description:
    'Every editable field of the type, in the order of an edit form, with the source of its value. `agentValue` is what a refresh would set, for a field that is locked or edited.',
  access: edits,
  params: IdParams,
  answer: json(200, FieldOrigins),

  async handle({ params }, call) {
    const { id } = await getVisibleItem(call.db, call.who, params.id);
    return originsOf(call, id);
  },
});

export const setItemLocks = defineEndpoint({
  operationId: 'setItemLocks',
  method: 'put',
  path: '/items/:id/locks',
  summary: 'Replace the locks of an item',
  description:
    'The whole set of locked fields, or the one entry `all`, which also keeps artwork, the identity of children and markers. Unlocking keeps the value until the next refresh. An unknown field is 400.',
  access: edits,
  params: IdParams,
  body: LocksPut,
  answer: json(200, LockedFields),
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return { lockedFields: await replaceLocks(call, params.id, body.fields) };
  },
});
