import { z } from 'zod';
import { includeQuery } from '#areas/items/public.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ARTWORK_BYTES, artworkMedia } from '#kernel/images.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { toDetail } from './collection/answer.ts';
import { changeCollection } from './collection/change-collection.ts';
import { deleteCollectionRow } from './collection/collections.store.ts';
import { createCollection as create } from './collection/create-collection.ts';
import { getCollectionRow, lockEditable } from './collection/find.ts';
import { listCollections as list } from './collection/list-collections.ts';
import { openPictures } from './collection/pictures.ts';
import {
  Collection,
  CollectionChange,
  CollectionDetail,
  CollectionDraft,
  CollectionsQuery,
} from './collections.schemas.ts';

const views = { permission: 'library:view' } as const;
const owns = { permission: 'playlist:own' } as const;

export const listCollections = defineEndpoint({
  operationId: 'listCollections',
  method: 'get',
  path: '/collections',
  summary: 'List the collections that the caller may see',
  description:
    'Own and shared ones, and those of the server, in which the caller sees at least one item. Counts are kept for a minute for each viewer. At most the 200 newest smart collections of others are tried for visible items, and with `itemId` for the item. An unknown item or library is 404.',
  access: views,
  query: CollectionsQuery,
  answer: page(Collection),
  errors: ['NOT_FOUND'],

  async handle({ query }, call) {
    return list(call, query);
  },
});

export const createCollection = defineEndpoint({
  operationId: 'createCollection',
  method: 'post',
  path: '/collections',
  summary: 'Create a collection',
  description:
    'It is 409 `duplicate-name` among the own ones and 409 `too-many-collections` at 1,000. An item that the caller cannot see is 404. `ofServer` needs `item:edit`; `pinned` for everyone needs `library:manage`; a child shares with accounts only (403 `role`). An account outside the directory of the caller is 400 `unknown_account`, rules that take longer than 5 seconds are 400 `query_too_broad`.',
  access: owns,
  body: CollectionDraft,
  answer: json(201, CollectionDetail),
  errors: ['CONFLICT', 'NOT_FOUND', 'FORBIDDEN'],
  emits: ['notification.created'],

  async handle({ body }, call) {
    return create(call, body);
  },
});

export const getCollection = defineEndpoint({
  operationId: 'getCollection',
  method: 'get',
  path: '/collections/:id',
  summary: 'Read a collection',
  description:
    'Anyone who sees it sees its rules; accounts and `include=candidates`, with whom the caller may share, are for its editors. A collection of others in which the caller sees nothing is 404.',
  access: views,
  params: IdParams,
  query: z.object({ include: includeQuery(['candidates']) }),
  answer: json(200, CollectionDetail),

  async handle({ params, query }, call) {
    return toDetail(call, await getCollectionRow(call, params.id), query.include);
  },
});

export const updateCollection = defineEndpoint({
  operationId: 'updateCollection',
  method: 'patch',
  path: '/collections/:id',
  summary: 'Change a collection',
  description:
    'For its editors, 403 for others who see it. A form may carry the pictures `poster` and `backdrop` in addition to the same fields. Rules of a manual one are 409 `not-smart`; `freeze` keeps what the caller sees now, at most 10,000 items, and makes it manual. Accounts that are newly named get a notification when they see something in it. Fields that a person sets on a collection of a catalogue are locked.',
  access: owns,
  params: IdParams,
  body: CollectionChange,
  files: {
    poster: { media: artworkMedia, maxBytes: ARTWORK_BYTES },
    backdrop: { media: artworkMedia, maxBytes: ARTWORK_BYTES },
  },
  answer: json(200, CollectionDetail),
  errors: ['CONFLICT', 'FORBIDDEN', 'MEDIA_UNSUPPORTED_CODEC'],
  emits: ['notification.created'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    await getCollectionRow(call, params.id);
    const opened = await openPictures(call, body);
    return call.transact(async (inside) => {
      const row = await lockEditable(inside, params.id);
      return toDetail(inside, await changeCollection(inside, row, { change: body, opened }));
    });
  },
});

export const deleteCollection = defineEndpoint({
  operationId: 'deleteCollection',
  method: 'delete',
  path: '/collections/:id',
  summary: 'Delete a collection',
  description:
    'For its editors; its items are untouched, and rows of Home that show it go. One of a catalogue does not come back.',
  access: owns,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    await deleteCollectionRow(call.db, await lockEditable(call, params.id));
  },
});
