import { z } from 'zod';
import { requirePermission } from '#identity/principal.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page, pageOf, pageQuery, parseSort, sortQuery } from '#kernel/page.ts';
import { commaList, Id, IdParams } from '#kernel/schemas.ts';
import { sharesPlace } from '../item/items.store.ts';
import { itemAt } from '../item/merged.ts';
import { Credit, PersonRole } from '../items.schemas.ts';
import { includeQuery } from '../listing/includes.ts';
import { FileTotals } from '../listing.schemas.ts';
import { Chapter, FileDetail } from '../media.schemas.ts';
import { chaptersOf } from '../relations/chapters.ts';
import { creditSorts, creditsOf } from '../relations/credits.store.ts';
import { type CreditRow, toCredit } from '../relations/relations.store.ts';
import { findFileDetails } from './file-details.ts';
import { findFileTotals, seesPaths } from './files.store.ts';

export const listItemFiles = defineEndpoint({
  operationId: 'listItemFiles',
  method: 'get',
  path: '/items/:id/files',
  summary: "List an item's files, the preferred one first",
  description:
    'Returns every edition and part; missing files are included and marked. A container returns an empty list and the totals of its files. Storage, folder and path need `library:manage`.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ include: includeQuery(['streams', 'chapters']) }),
  answer: json(200, z.object({ items: z.array(FileDetail).max(200), totals: FileTotals.optional() })),

  async handle({ params, query }, call) {
    const { db, who } = call;
    const item = await itemAt(call, params.id, (id) => `/items/${id}/files`);
    if (item.container) return { items: [], totals: await findFileTotals(db, who, item.id) };
    const sight = {
      who,
      paths: seesPaths(who),
      place: sharesPlace(who, item.librarySettings),
      include: query.include ?? [],
    };
    return { items: await findFileDetails(db, { itemId: item.id }, sight) };
  },
});

export const getItemFile = defineEndpoint({
  operationId: 'getItemFile',
  method: 'get',
  path: '/items/:id/files/:fileId',
  summary: 'Read one file of an item with all technical data',
  description:
    'Path, hashes and `include=probe` need `library:manage`, and `include=probe` without it is 403. A file of another item is 404.',
  access: { permission: 'library:view' },
  params: z.object({ id: Id, fileId: Id }),
  query: z.object({ include: includeQuery(['streams', 'chapters', 'probe']) }),
  answer: json(200, FileDetail),

  async handle({ params, query }, call) {
    const { db, who } = call;
    const include = query.include ?? [];
    if (include.includes('probe')) requirePermission(who, 'library:manage');
    const item = await itemAt(call, params.id, (id) => `/items/${id}/files/${params.fileId}`);
    const sight = { who, paths: seesPaths(who), place: sharesPlace(who, item.librarySettings), include };
    const [file] = await findFileDetails(db, { itemId: item.id, fileId: params.fileId }, sight);
    if (!file) throw notFound();
    return file;
  },
});

export const listItemChapters = defineEndpoint({
  operationId: 'listItemChapters',
  method: 'get',
  path: '/items/:id/chapters',
  summary: 'List the chapters of an item',
  description:
    'Returns the chapters of the preferred file, or of `fileId`. A film in several files has one continuous timeline. `fileId` in the response is null when the item has no file.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ fileId: Id.optional() }),
  answer: json(200, z.object({ fileId: Id.nullable(), items: z.array(Chapter) })),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/chapters`);
    return chaptersOf(call.db, item.id, query.fileId);
  },
});

export const listItemPeople = defineEndpoint({
  operationId: 'listItemPeople',
  method: 'get',
  path: '/items/:id/people',
  summary: 'List cast and crew',
  description:
    "An episode's guests come before the cast of its show. A show's list is its cast, with the number of episodes of each person. Pages are sorted by `order` or `name`.",
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    role: commaList(PersonRole, 21).optional(),
    sort: sortQuery(creditSorts),
  }),
  answer: page(Credit),

  async handle({ params, query }, call) {
    const { db, deps } = call;
    const item = await itemAt(call, params.id, (id) => `/items/${id}/people`);
    return pageOf<CreditRow, Credit>(db, creditsOf(call, item, query.role), {
      keys: deps.keys,
      terms: parseSort(query.sort, creditSorts, 'order'),
      cursor: query.cursor,
      limit: query.limit,
      scope: `listItemPeople|${item.id}|${query.role?.join() ?? ''}`,
      idColumn: 'c.id',
      toItem: toCredit,
    });
  },
});
