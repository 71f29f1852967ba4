import { getVisibleItem, holdVisibleItem } from '#areas/items/public.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { ChangedMarkers, ItemMarkers, MarkersChange, MarkersQuery } from './markers.schemas.ts';
import { changeMarkers, markersOf } from './markers.ts';

export const listItemMarkers = defineEndpoint({
  operationId: 'listItemMarkers',
  method: 'get',
  path: '/items/:id/markers',
  summary: 'List intros, credits and other marked parts',
  description:
    'Returns the markers by file and start, and in `analyses` why there are none. A season or show has counts by episode only.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: MarkersQuery,
  answer: json(200, ItemMarkers),

  async handle({ params, query }, call) {
    return markersOf(call, await getVisibleItem(call.db, call.who, params.id), query.fileId);
  },
});

export const setItemMarkers = defineEndpoint({
  operationId: 'setItemMarkers',
  method: 'put',
  path: '/items/:id/markers',
  summary: 'Replace the marked parts of a file',
  description:
    'Unchanged markers keep their source. A marker that ends before it starts, lies outside the duration or overlaps one of its kind is 400; a file has at most one of each kind, except `commercial` and `highlight`. Analyses pass over a locked file; `lock` false with an empty list lets them run again.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: MarkersChange,
  answer: json(200, ChangedMarkers),
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const item = await holdVisibleItem(call.db, call.who, params.id);
    return { items: await changeMarkers(call, item, body) };
  },
});
