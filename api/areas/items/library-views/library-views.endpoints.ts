import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { commaList, IdParams, queryInt } from '#kernel/schemas.ts';
import { sortQuery } from '#kernel/sort.ts';
import { libraryFacets } from '../fields/facets.ts';
import { customInfos, customSortInfos, fieldInfos, sortInfos } from '../fields/field-infos.ts';
import { NOTHING, unchanged } from '../files/versions.store.ts';
import { sharesPlace } from '../item/items.store.ts';
import { typesOf } from '../listing/browse.ts';
import { getVisibleLibrary } from '../listing/shelves.store.ts';
import {
  Facet,
  FieldInfo,
  IndexBucket,
  MapCluster,
  SortInfo,
  TimelineBucket,
  TimelineColumns,
} from '../listing.schemas.ts';
import { itemFilter, typesQuery } from '../queries.ts';
import { indexSorts, libraryIndex } from './library-index.ts';
import { mapClusters, parseBox } from './map.ts';
import { timelineBuckets, timelineColumns } from './timeline.ts';

export const listLibraryFields = defineEndpoint({
  operationId: 'listLibraryFields',
  method: 'get',
  path: '/libraries/:id/fields',
  summary: 'List the filter and sort fields of a library',
  description:
    'Returns the fields that filters, saved filters and smart rules may use in this library, limited to those that the caller may use. The response has an ETag.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({ type: typesQuery }),
  answer: json(200, z.object({ items: z.array(FieldInfo), sorts: z.array(SortInfo) })),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    if (
      await unchanged(call, { libraryIds: [], more: `${library.id}|${library.revision}|${query.type?.join() ?? ''}` })
    )
      return NOTHING;
    const types = typesOf(library, query.type, 'all');
    const items = [...fieldInfos(call.who, library, types), ...(await customInfos(call, library, types))];
    return { items, sorts: [...sortInfos(library, types), ...(await customSortInfos(call, library, types))] };
  },
});

export const getLibraryFacets = defineEndpoint({
  operationId: 'getLibraryFacets',
  method: 'get',
  path: '/libraries/:id/facets',
  summary: 'Count the values of fields',
  description:
    'Each facet is counted with all conditions except its own, so that other values remain selectable. Above 50,000 matching items the counts come from an even sample and are marked as estimates. Responses are cached for a minute.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    fields: commaList(z.string().max(60), 10),
    type: typesQuery,
    filter: itemFilter,
    q: z.string().min(1).max(100).optional(),
    top: queryInt(1, 500).default(50),
  }),
  answer: json(
    200,
    z.object({ total: z.int().meta({ example: 1 }), totalIsEstimate: z.boolean().optional(), facets: z.array(Facet) }),
  ),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    return libraryFacets(call, library, { ...query, types: typesOf(library, query.type, 'items') });
  },
});

export const getLibraryIndex = defineEndpoint({
  operationId: 'getLibraryIndex',
  method: 'get',
  path: '/libraries/:id/index',
  summary: 'Read the jump bar of a library',
  description:
    'Returns letters, years or whole points, each with the cursor before its first item; pass that cursor to listLibraryItems with the same sort, filter and type. With `marks` the list is divided into even steps: `marks[i]` is the cursor of item i times `every`. Unfiltered responses follow each change of the library; those of more than 50,000 items are up to a minute old while a scan runs.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    type: typesQuery,
    marks: queryInt(0, 2000).default(0),
    sort: sortQuery(indexSorts),
    filter: itemFilter,
  }),
  answer: json(
    200,
    z.object({
      sort: z.string().meta({ example: 'title' }),
      direction: z.enum(['asc', 'desc']),
      total: z.int().meta({ example: 1 }),
      buckets: z.array(IndexBucket).max(200),
      every: z.int().optional(),
      marks: z.array(z.string()).optional(),
    }),
  ),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    return libraryIndex(call, library, { ...query, types: typesOf(library, query.type, 'items') });
  },
});

export const getLibraryTimeline = defineEndpoint({
  operationId: 'getLibraryTimeline',
  method: 'get',
  path: '/libraries/:id/timeline',
  summary: 'Count items by year, month or day',
  description:
    'Without `bucket` it returns all buckets, newest first. With `bucket` it returns the items of that bucket as columns of equal length, at most 10,000; `next` continues a larger bucket. Items without a date are in the bucket `undated`.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    unit: z.enum(['year', 'month', 'day']).default('month'),
    bucket: z
      .string()
      .regex(/^(\d{4}(-\d{2}(-\d{2})?)?|undated)$/)
      .optional()
      .meta({ example: '1922-03' }),
    field: z.enum(['takenAt', 'addedAt', 'releasedOn']).default('takenAt'),
    filter: itemFilter,
    cursor: z.string().max(2000).optional().describe('`next` of the answer before, with `bucket`'),
  }),
  answer: json(200, z.object({ buckets: z.array(TimelineBucket).optional(), columns: TimelineColumns.optional() })),

  async handle({ params, query }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    const options = { ...query, types: typesOf(library, undefined, 'items') };
    if (query.bucket === undefined) return { buckets: await timelineBuckets(call, library, options) };
    return { columns: await timelineColumns(call, library, { ...options, bucket: query.bucket }) };
  },
});

export const getLibraryMap = defineEndpoint({
  operationId: 'getLibraryMap',
  method: 'get',
  path: '/libraries/:id/map',
  summary: 'List items on a map as clusters',
  description:
    'A box whose west lies east of its east crosses the date line. A malformed box is 400. The result is empty for callers without `item:edit` when the library does not share locations.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: z.object({
    bbox: z.string().max(100).describe('west,south,east,north in degrees'),
    zoom: queryInt(0, 20),
    filter: itemFilter,
  }),
  answer: json(200, z.object({ clusters: z.array(MapCluster).max(1000), total: z.int().meta({ example: 1 }) })),

  async handle({ params, query }, call) {
    const box = parseBox(query.bbox);
    if (!box) throw invalid(['query', 'bbox'], 'bad_box', 'west,south,east,north in degrees');
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    if (!sharesPlace(call.who, library.settings)) return { clusters: [], total: 0 };
    return mapClusters(call, library, { ...query, box });
  },
});
