import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { Id, IdParams, queryBool, queryInt } from '#kernel/schemas.ts';
import { NOTHING, unchanged } from '../files/versions.store.ts';
import { Extra, ExtraKind, ItemDetail, ItemSummary, ListedItem, SimilarItem } from '../items.schemas.ts';
import { itemsPage } from '../listing/browse.ts';
import { includeQuery, withIncludes } from '../listing/includes.ts';
import { neighbourSorts, neighboursOf } from '../listing/neighbours.ts';
import { getVisibleLibrary } from '../listing/shelves.store.ts';
import { childOrder, type SortName } from '../listing/sorts.ts';
import { titleSort } from '../listing/title-order.ts';
import { MissingChild, TreeNode } from '../listing.schemas.ts';
import { itemFilter, typesQuery } from '../queries.ts';
import { listExtras } from '../relations/extras.store.ts';
import { findParents } from '../relations/relations.store.ts';
import { listSimilar } from '../relations/similar.store.ts';
import { childListing } from './children.ts';
import { detailRelations, itemDetail } from './detail.ts';
import { itemAt } from './merged.ts';
import { missingPlaceholders } from './missing.ts';
import { findItemSummaries } from './summaries.store.ts';
import { treeOf } from './tree.ts';

export const getItem = defineEndpoint({
  operationId: 'getItem',
  method: 'get',
  path: '/items/:id',
  summary: 'Read an item',
  description:
    'Each included list holds its first 50 entries. The ETag begins with the revision of the item, which edits accept in If-Match. A trashed item is 404 for everyone. The id of a merged item returns the item that it was merged into for a year, with that address in Content-Location.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    fileId: Id.optional().describe('The edition that resolution, hdr, runtimeMs and sizeBytes describe'),
    include: includeQuery(detailRelations),
  }),
  answer: json(200, ItemDetail),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id);
    const same = await unchanged(call, { libraryIds: [item.libraryId], revision: item.revision, more: item.id });
    return same ? NOTHING : itemDetail(call, item, { include: query.include ?? [], fileId: query.fileId });
  },
});

const childSorts: readonly SortName[] = ['index', 'title', 'releasedOn', 'addedAt', 'rating', 'takenAt', 'random'];

export const listItemChildren = defineEndpoint({
  operationId: 'listItemChildren',
  method: 'get',
  path: '/items/:id/children',
  summary: 'List the children of an item',
  description:
    'An item without children returns an empty page. With `type`, deeper levels are returned as one flat list. `specials` decides whether specials are separate, placed among the episodes or hidden. `missing` appends children that the metadata agent knows and no library holds, without ids, after the last item.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    ...pageQuery,
    type: typesQuery,
    season: queryInt(0, 100_000).optional(),
    specials: z.enum(['separate', 'inline', 'hidden']).default('separate'),
    missing: queryBool.default(false),
    sort: sortQuery(childSorts),
    filter: itemFilter,
    include: includeQuery(['files', 'streams', 'people', 'custom', 'userState']),
  }),
  answer: page(z.union([ListedItem, MissingChild])),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/children`);
    const answer = await itemsPage(call, childListing(item, { ...query, types: query.type }), {
      ...query,
      scope: `listItemChildren|${item.id}|${query.type?.join() ?? ''}|${query.season ?? ''}|${query.specials}`,
      fallback: 'index',
      sorts: childSorts,
      moreSorts: {
        index: childOrder(query.specials === 'inline'),
        ...titleSort(call, [{ settings: item.librarySettings }]),
      },
    });
    if (!query.missing || answer.page.hasMore) return answer;
    return { ...answer, items: [...answer.items, ...(await missingPlaceholders(call, item, query))] };
  },
});

export const getItemTree = defineEndpoint({
  operationId: 'getItemTree',
  method: 'get',
  path: '/items/:id/tree',
  summary: 'Read a container and all its descendants',
  description:
    'Returns the whole container in one response, for an episode picker, a course outline or an album. Above 5,000 nodes the deepest level is cut and `truncated` is true; use listItemChildren then. The response has an ETag.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ depth: queryInt(1, 3).default(3) }),
  answer: json(200, TreeNode),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/tree`);
    if (await unchanged(call, { libraryIds: [item.libraryId], more: `${item.id}|${query.depth}` })) return NOTHING;
    return treeOf(call, item, query.depth);
  },
});

export const listItemAncestors = defineEndpoint({
  operationId: 'listItemAncestors',
  method: 'get',
  path: '/items/:id/ancestors',
  summary: 'List the ancestors of an item, outermost first',
  description: 'Returns the library and the containers of the item, for a breadcrumb.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(
    200,
    z.object({
      library: z.object({
        id: Id,
        name: z.string().meta({ example: 'Films' }),
        type: z.string().meta({ example: 'movies' }),
      }),
      items: z.array(ItemSummary),
    }),
  ),

  async handle({ params }, call) {
    const { db, who } = call;
    const item = await itemAt(call, params.id, (id) => `/items/${id}/ancestors`);
    const library = await getVisibleLibrary(db, who, item.libraryId);
    const summary = (await findItemSummaries(db, who, [item.id])).get(item.id);
    const parents = summary ? await findParents(db, who, [summary]) : new Map<string, ItemSummary[]>();
    return { library, items: parents.get(item.id) ?? [] };
  },
});

export const listSimilarItems = defineEndpoint({
  operationId: 'listSimilarItems',
  method: 'get',
  path: '/items/:id/similar',
  summary: 'List items like this one',
  description:
    'Returns at most 50 items of the same type, best first, with a score and the reasons. Similarity is computed in the background; until then it is computed during the request from shared genres and people, within 300 ms.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ sameLibrary: queryBool.default(false), unwatched: queryBool.default(false) }),
  answer: json(200, z.object({ items: z.array(SimilarItem) })),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/similar`);
    return { items: await listSimilar(call, item, query) };
  },
});

export const listItemExtras = defineEndpoint({
  operationId: 'listItemExtras',
  method: 'get',
  path: '/items/:id/extras',
  summary: "List an item's trailers and other extras",
  description:
    'Returns at most 500 local extras, ordered by kind and title. Extras play like any item but appear in no other list.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ kind: ExtraKind.optional(), include: includeQuery(['files', 'streams']) }),
  answer: json(200, z.object({ items: z.array(Extra) })),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/extras`);
    return { items: await withIncludes(call, await listExtras(call, item, query), query.include) };
  },
});

const Within = z.string().regex(/^(parent|library|(collection|playlist):[0-9a-f-]{36})$/);

export const getItemNeighbours = defineEndpoint({
  operationId: 'getItemNeighbours',
  method: 'get',
  path: '/items/:id/neighbours',
  summary: 'List the items before and after an item',
  description:
    'Uses the same sort and filter as the list that `within` names. Within the parent, the last episode of a season is followed by the next season. The item itself need not match the filter. `position` counts from 1 and is present up to 10,000.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    within: Within.default('parent').describe('parent, library, collection:<id> or playlist:<id>'),
    radius: queryInt(1, 25).default(1),
    sort: sortQuery(neighbourSorts),
    filter: itemFilter,
  }),
  answer: json(
    200,
    z.object({
      before: z.array(ItemSummary),
      after: z.array(ItemSummary),
      position: z.int().optional(),
      total: z.int().optional().meta({ example: 1 }),
    }),
  ),

  async handle({ params, query }, call) {
    const item = await itemAt(call, params.id, (id) => `/items/${id}/neighbours`);
    return neighboursOf(call, item, query);
  },
});
