import { z } from 'zod';
import { includeQuery, itemFilter, itemsPage, ListedItem, listRelations } from '#areas/items/public.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page, pageQuery, sortQuery } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getCollectionRow } from './collection/find.ts';
import {
  Collection,
  ItemsAdded,
  ItemsAddedAnswer,
  ItemsChange,
  itemSorts,
  SmartPreview,
  SmartPreviewQuery,
} from './collections.schemas.ts';
import { addTo, changeItems } from './items/change-items.ts';
import { collectionList } from './items/listing.ts';
import { previewRules } from './rules/preview.ts';

const owns = { permission: 'playlist:own' } as const;
const views = { permission: 'library:view' } as const;

export const listCollectionItems = defineEndpoint({
  operationId: 'listCollectionItems',
  method: 'get',
  path: '/collections/:id/items',
  summary: 'List the items of a collection',
  description:
    "The default order is the collection's own, which `manual` names; of a smart one that of its rules. The limit of a smart one is counted before the filter. The state of a viewer in the rules is the viewer's own.",
  access: views,
  params: IdParams,
  query: z.object({
    ...pageQuery,
    sort: sortQuery(itemSorts),
    filter: itemFilter,
    include: includeQuery([...listRelations, 'parents', 'custom', 'externalIds', 'userState']),
  }),
  answer: page(ListedItem),

  async handle({ params, query }, call) {
    const row = await getCollectionRow(call, params.id);
    const { listing, ...list } = await collectionList(call, row);
    const sort = query.sort === 'manual' && row.kind === 'smart' ? undefined : query.sort;
    const own = { ...list, fallback: query.sort === 'manual' ? list.byHand : list.fallback };
    return itemsPage(call, listing, { ...query, ...own, sort, scope: `listCollectionItems|${row.id}` });
  },
});

export const addCollectionItems = defineEndpoint({
  operationId: 'addCollectionItems',
  method: 'post',
  path: '/collections/:id/items',
  summary: 'Add items to a collection',
  description:
    'An item that is there stays where it is; one that the caller cannot see is 404. `afterItemId` null is first, absent is last. A smart one is 409 `smart-collection`, more than 10,000 items are 409 `collection-full`. What a person adds to a collection of a catalogue survives its refresh.',
  access: owns,
  params: IdParams,
  body: ItemsAdded,
  answer: json(200, ItemsAddedAnswer),
  errors: ['CONFLICT', 'FORBIDDEN'],

  async handle({ params, body }, call) {
    return addTo(call, params.id, body);
  },
});

export const changeCollectionItems = defineEndpoint({
  operationId: 'changeCollectionItems',
  method: 'patch',
  path: '/collections/:id/items',
  summary: 'Remove and move items of a collection',
  description:
    'Removes first, then moves, and passes over unknown ids. Moving makes the order by hand the one that is shown. What a person removes from a collection of a catalogue does not come back. A smart one is 409 `smart-collection`.',
  access: owns,
  params: IdParams,
  body: ItemsChange,
  answer: json(200, Collection),
  errors: ['CONFLICT', 'FORBIDDEN'],

  async handle({ params, body }, call) {
    return changeItems(call, params.id, body);
  },
});

export const previewSmartRules = defineEndpoint({
  operationId: 'previewSmartRules',
  method: 'post',
  path: '/collections/preview',
  summary: 'Try rules of a smart list',
  description:
    'For editors of collections, playlists, filters and Home; it keeps nothing. Takes rules or a filter string and answers both forms; `filter` is absent when the rules have an `any`. Counts exactly to 10,000. Conditions on deleted custom fields are in `ignored`; other errors are those of createCollection. At most 30 a minute.',
  access: views,
  body: SmartPreviewQuery,
  answer: json(200, SmartPreview),
  errors: ['RATE_LIMITED'],

  async handle({ body }, call) {
    return previewRules(call, body);
  },
});
