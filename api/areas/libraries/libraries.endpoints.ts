import { z } from 'zod';
import { cancelScansOfLibrary, requestScan, triggerOf } from '#areas/scanning/public.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { ARTWORK_BYTES, artworkMedia } from '#kernel/images.ts';
import { IdParams } from '#kernel/schemas.ts';
import { baseOf } from '#platform/own-types.ts';
import {
  changeLibrary,
  checkNewLibrary,
  etagOf,
  openPoster,
  refuseForeignManager,
  refuseManaged,
  refuseStale,
} from './change-library.ts';
import { insertFolders, refuseUnfit } from './folders.store.ts';
import { addNewFolders, checkedAdditions, checkedOwnFolders, knownFolders, refuseAdder } from './folders.ts';
import {
  Library,
  LibraryChange,
  LibraryDraft,
  LibraryListQuery,
  LibraryOrder,
  NewFolders,
} from './libraries.schemas.ts';
import {
  findManagedLibraryId,
  getLibraryRow,
  hideLibrary,
  insertLibrary,
  type LibraryRow,
  listLibraryRows,
  lockLibraryRow,
  MOST_LIBRARIES,
  setAccess,
  writeOrder,
} from './libraries.store.ts';
import { readLibrary, toLibraries, toOneLibrary } from './libraries.view.ts';

export const listLibraries = defineEndpoint({
  operationId: 'listLibraries',
  method: 'get',
  path: '/libraries',
  summary: 'List the libraries the caller may see',
  description:
    'Returns all of them in sidebar order, without paging; a server has at most 500. `for` keeps only those that the caller may edit or upload to. The response has an ETag.',
  access: { permission: 'library:view' },
  query: LibraryListQuery,
  answer: json(200, z.array(Library).max(MOST_LIBRARIES)),

  async handle({ query }, call) {
    const rows = await listLibraryRows(call.db, call.who, query.type);
    const libraries = await toLibraries(call, rows);
    const wanted =
      query.for === 'view'
        ? libraries
        : libraries.filter((library) => library.may[query.for === 'edit' ? 'edit' : 'upload']);
    return answerUnlessSame(call, wanted);
  },
});

export const createLibrary = defineEndpoint({
  operationId: 'createLibrary',
  method: 'post',
  path: '/libraries',
  summary: 'Create a library',
  description:
    'Folders queue a full scan. The type cannot be changed later. 409 reasons are `duplicate-name` (names are compared without case), `folder-overlap`, `library-limit` at 500, and `read-only` for recordings on a read-only storage. A path that is not a folder is 400 with the index of that folder; an unavailable storage is 423. A repeated request of the operator with the same `managedBy.uid` is 200 with the existing library.',
  access: { permission: 'library:manage' },
  body: LibraryDraft,
  answer: json(201, Library),
  errors: ['STORAGE_UNAVAILABLE'],
  emits: ['library.access.granted', 'library.scan.started'],

  async before({ body }, call) {
    await checkNewLibrary(call, body);
    return undefined;
  },

  async handle({ body }, call) {
    const { db, who } = call;
    const made = body.managedBy && (await findManagedLibraryId(db, body.managedBy.uid));
    if (made) {
      call.reply.status(200);
      return toOneLibrary(call, await getLibraryRow(db, who, made));
    }
    const folders = await knownFolders(call, body.folders);
    const id = await insertLibrary(db, body);
    await refuseUnfit(db, { libraryId: id, type: body.type }, folders);
    await insertFolders(db, id, { folders, by: who.accountId });
    await setAccess(call, id, { access: body.access, isNew: true });
    if (folders.length > 0)
      await requestScan(db, { libraryId: id, mode: 'full', trigger: triggerOf(call), byAccountId: who.accountId });
    return answerWith(call, await getLibraryRow(db, who, id));
  },
});

export const getLibrary = defineEndpoint({
  operationId: 'getLibrary',
  method: 'get',
  path: '/libraries/:id',
  summary: 'Read a library',
  description:
    'The ETag is made from the revision and is accepted by updateLibrary and deleteLibrary in If-Match. Access and trash count need `library:manage`; a folder path needs it too, except for folders that the caller added.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, Library),

  async handle({ params }, call) {
    const library = await readLibrary(call, params.id);
    call.reply.header('ETag', etagOf(library));
    return library;
  },
});

export const updateLibrary = defineEndpoint({
  operationId: 'updateLibrary',
  method: 'patch',
  path: '/libraries/:id',
  summary: 'Change a library',
  description:
    'Absent fields keep their value; a null setting returns to its default. `folders` is the whole list: a new folder is scanned, and removing one that holds items is 409 `removes-items` unless `confirmRemoval` is true. Other 409 reasons are `revision` (If-Match), `managed-by-resource`, `type-fixed`, `duplicate-name` and `folder-overlap`; no part of a refused request is applied. The header X-Refresh-Suggested is true when changed agents, language or country make a metadata refresh useful.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: LibraryChange,
  files: { poster: { media: artworkMedia, maxBytes: ARTWORK_BYTES } },
  answer: json(200, Library),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE', 'MEDIA_UNSUPPORTED_CODEC'],
  emits: ['library.access.granted', 'library.scan.started'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const { db, who } = call;
    refuseForeignManager(who, body);
    if (body.poster || body.folders) await getLibraryRow(db, who, params.id);
    const poster = body.poster && (await openPoster(call.deps.pictures, body.poster));
    const added = await checkedAdditions(call, body.folders ?? []);
    return call.transact(async (inside) => {
      const row = await lockLibraryRow(inside.db, who, params.id);
      await changeLibrary(inside, row, { change: body, poster, added });
      return answerWith(inside, await getLibraryRow(inside.db, who, params.id));
    });
  },
});

export const deleteLibrary = defineEndpoint({
  operationId: 'deleteLibrary',
  method: 'delete',
  path: '/libraries/:id',
  summary: 'Delete a library; media files are never touched',
  description:
    'The library is 404 for everyone immediately, its scans are cancelled, and a job deletes its rows and derived files. If-Match with another revision is 409 `revision`; a library that a Kubernetes resource owns is 409 `managed-by-resource`.',
  access: { permission: 'library:manage' },
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    const { db, who, enqueue } = call;
    const row = await lockLibraryRow(db, who, params.id);
    refuseStale(call, row);
    if (row.managed_by && !who.operator) refuseManaged(who, { ...row, managed_fields: ['library'] }, ['library']);
    await hideLibrary(db, row.id);
    await cancelScansOfLibrary(db, row.id);
    await enqueue('library.delete', { libraryId: row.id }, { key: `library.delete:${row.id}`, libraryId: row.id });
  },
});

export const orderLibraries = defineEndpoint({
  operationId: 'orderLibraries',
  method: 'put',
  path: '/libraries/order',
  summary: 'Set the order of the libraries for everyone',
  description:
    'Libraries that are not named follow in their previous order. An unknown or hidden id is 400. A library whose order a Kubernetes resource owns is 409 `managed-by-resource` when its position would change.',
  access: { permission: 'library:manage' },
  body: LibraryOrder,
  answer: json(200, z.array(Library)),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who } = call;
    const before = await listLibraryRows(db, who);
    const known = new Map(before.map((row) => [row.id, row]));
    const unknown = body.ids.findIndex((id) => !known.has(id));
    if (unknown >= 0) throw invalid(['body', 'ids', unknown], 'unknown_library', 'there is no such library');
    await writeOrder(db, body.ids);
    const after = await listLibraryRows(db, who);
    for (const [place, row] of after.entries()) {
      if (before[place]?.id !== row.id) refuseManaged(who, row, ['order']);
    }
    return toLibraries(call, after);
  },
});

export const addLibraryFolders = defineEndpoint({
  operationId: 'addLibraryFolders',
  method: 'post',
  path: '/libraries/:id/folders',
  summary: 'Add folders of a storage to a library',
  description:
    'A folder that the library already has is no error. Callers without `library:manage` need `photo:upload`, may add folders of their own drives to photo libraries only, and at most 10. New folders queue a quick scan. 409 reasons are `folder-overlap`, `folder-limit`, `read-only` and `managed-by-resource`; an unavailable storage is 423.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: NewFolders,
  answer: json(200, Library),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['library.scan.started'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const { db, who } = call;
    refuseAdder(who);
    const row = await getLibraryRow(db, who, params.id);
    refuseAdder(who, baseOf(row));
    refuseManaged(who, row, ['folders']);
    const checked = await checkedOwnFolders(call, body.folders);
    return call.transact(async (inside) => {
      await addNewFolders(inside, await lockLibraryRow(inside.db, who, row.id), checked);
      return answerWith(inside, await getLibraryRow(inside.db, who, row.id));
    });
  },
});

async function answerWith(call: Call, row: LibraryRow): Promise<Library> {
  call.reply.header('ETag', etagOf(row));
  return toOneLibrary(call, row);
}
