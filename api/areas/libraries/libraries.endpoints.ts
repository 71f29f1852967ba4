import { z } from 'zod';
import { cancelScansOfLibrary, requestScan } from '#areas/scanning/public.ts';
import { may } from '#identity/principal.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { ARTWORK_BYTES, artworkMedia } from '#kernel/images.ts';
import { IdParams } from '#kernel/schemas.ts';
import { addFolders, changeLibrary } from './change-library.ts';
import { insertFolders, refuseUnfit } from './folders.store.ts';
import { checkedFolders } from './folders.ts';
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
import { refuseForeignManager, refuseManaged } from './managed.ts';
import { openPoster } from './poster.ts';
import { etagOf, refuseStale } from './revision.ts';

export const listLibraries = defineEndpoint({
  operationId: 'listLibraries',
  method: 'get',
  path: '/libraries',
  summary: 'List the libraries the caller may see, in sidebar order',
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
  access: { permission: 'library:manage' },
  body: LibraryDraft,
  answer: json(201, Library),
  errors: ['STORAGE_UNAVAILABLE'],
  emits: ['library.access.granted', 'library.scan.started'],

  async handle({ body }, call) {
    const { db, who } = call;
    refuseForeignManager(who, body);
    const made = body.managedBy && (await findManagedLibraryId(db, body.managedBy.uid));
    if (made) {
      call.reply.status(200);
      return toOneLibrary(call, await getLibraryRow(db, who, made));
    }
    const folders = await checkedFolders(call, body.folders);
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
    if (body.poster) await getLibraryRow(db, who, params.id);
    const poster = body.poster && (await openPoster(call.deps.pictures, body.poster));
    return call.transact(async (inside) => {
      const row = await lockLibraryRow(inside.db, who, params.id);
      await changeLibrary(inside, row, { change: body, poster });
      return answerWith(inside, await getLibraryRow(inside.db, who, params.id));
    });
  },
});

export const deleteLibrary = defineEndpoint({
  operationId: 'deleteLibrary',
  method: 'delete',
  path: '/libraries/:id',
  summary: 'Delete a library; media files are never touched',
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
  summary: 'Put the libraries in order, for everybody',
  access: { permission: 'library:manage' },
  body: LibraryOrder,
  answer: json(200, z.array(Library)),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who } = call;
    const before = await listLibraryRows(db, who);
    const known = new Map(before.map((row) => [row.id, row]));
    const strange = body.ids.findIndex((id) => !known.has(id));
    if (strange >= 0) throw invalid(['body', 'ids', strange], 'unknown_library', 'there is no such library');
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
  summary: 'Add folders of a storage',
  access: { permission: 'library:view' },
  params: IdParams,
  body: NewFolders,
  answer: json(200, Library),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['library.scan.started'],

  async handle({ params, body }, call) {
    const { db, who } = call;
    const manages = may(who, 'library:manage');
    if (!manages && !may(who, 'photo:upload')) throw mayNot();
    const row = await lockLibraryRow(db, who, params.id);
    if (!manages && row.type !== 'photos') throw mayNot();
    refuseManaged(who, row, ['folders']);
    const folders = await checkedFolders(call, body.folders, (storage) => manages || storage.ownerId === who.accountId);
    const there = await db('library_folders')
      .where({ library_id: row.id })
      .select<{ storage_id: string; path: string }[]>('storage_id', 'path');
    const added = folders.filter(
      (folder) => !there.some((one) => one.storage_id === folder.storageId && one.path === folder.path),
    );
    await refuseUnfit(db, { libraryId: row.id, type: row.type }, added);
    await refuseTooMany(call, row.id, { manages, adding: added.length });
    await addFolders(call, row.id, added);
    return answerWith(call, await getLibraryRow(db, who, row.id));
  },
});

const mayNot = (): ApiError =>
  new ApiError('FORBIDDEN', 'This needs the permission library:manage', { permission: 'library:manage' });

const MEMBER_FOLDERS = 10;
const MOST_FOLDERS = 100;

async function refuseTooMany(
  { db, who }: Call,
  libraryId: string,
  ask: { manages: boolean; adding: number },
): Promise<void> {
  const folders = db('library_folders').count<{ count: number }[]>('* as count');
  const [counted] = await (ask.manages
    ? folders.where({ library_id: libraryId })
    : folders.where({ added_by: who.accountId }));
  const most = ask.manages ? MOST_FOLDERS : MEMBER_FOLDERS;
  if ((counted?.count ?? 0) + ask.adding > most) throw conflict('folder-limit', `At most ${most} folders`);
}

export function triggerOf({ who }: Call): 'resource' | 'key' | 'person' {
  if (who.operator) return 'resource';
  return who.kind === 'key' ? 'key' : 'person';
}

async function answerWith(call: Call, row: LibraryRow): Promise<Library> {
  call.reply.header('ETag', etagOf(row));
  return toOneLibrary(call, row);
}
