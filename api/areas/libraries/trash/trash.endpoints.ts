import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getLibraryRow } from '../libraries.store.ts';
import {
  EmptiedTrash,
  EmptyTrashQuery,
  Purged,
  RestoredTrash,
  RestoreTrash,
  TrashEntry,
  TrashedItemParams,
  TrashQuery,
  TrashTotals,
} from './trash.schemas.ts';
import { emptyTrashOf, purgeOne, restoreFromTrash } from './trash.ts';
import { trashPage } from './trash.view.ts';

export const listTrash = defineEndpoint({
  operationId: 'listTrash',
  method: 'get',
  path: '/libraries/:id/trash',
  summary: 'List the trash of a library',
  description:
    'A trashed show is one entry with its child count; an episode is an entry of its own only when its show is not trashed. `purgeAt` is null when entries are kept forever or the storage is unavailable. `totals` covers the whole trash of the library.',
  access: { permission: 'library:manage' },
  params: IdParams,
  query: TrashQuery,
  answer: page(TrashEntry, { totals: TrashTotals }),

  async handle({ params, query }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    return trashPage(call, library, query);
  },
});

export const emptyTrash = defineEndpoint({
  operationId: 'emptyTrash',
  method: 'delete',
  path: '/libraries/:id/trash',
  summary: 'Empty the trash of a library',
  description:
    'Purges the entries that were trashed before the request, or before `before`. Up to 1,000 entries are purged in the request; a job, named by `jobId`, purges the rest. Entries on an unavailable storage are skipped and reported. Files in the trash folder of a storage are deleted, all others are kept.',
  access: { permission: 'library:manage' },
  params: IdParams,
  query: EmptyTrashQuery,
  answer: json(200, EmptiedTrash),

  async handle({ params, query }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    return emptyTrashOf(call, library.id, query);
  },
});

export const purgeTrashedItem = defineEndpoint({
  operationId: 'purgeTrashedItem',
  method: 'delete',
  path: '/libraries/:id/trash/:itemId',
  summary: 'Purge a trashed item and its children',
  description:
    'Files in the trash folder of their storage are deleted; others are kept, and later scans ignore them. 409 `read-only` when the storage does not allow it. An item that is not in the trash of this library is 404; a storage that is unavailable is 423.',
  access: { permission: 'library:manage' },
  params: TrashedItemParams,
  answer: json(200, Purged),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],

  async handle({ params }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    return purgeOne(call, library.id, params.itemId);
  },
});

export const restoreTrash = defineEndpoint({
  operationId: 'restoreTrash',
  method: 'post',
  path: '/libraries/:id/trash/restore',
  summary: 'Restore trashed items',
  description:
    'Takes `itemIds`, or `all` with an optional `reason`. Restoring an episode restores its season and show. Files in the trash folder go back to their place, never over another file (`target-exists`). An item whose file is absent returns as missing with a new grace period. Items that cannot be restored are listed with the reason and do not fail the rest.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: RestoreTrash,
  answer: json(200, RestoredTrash),
  emits: ['item.added'],

  async handle({ params, body }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    return restoreFromTrash(call, library.id, body);
  },
});
