import { z } from 'zod';
import { getVisibleLibrary } from '#areas/items/public.ts';
import { emitState } from '#areas/playback/public.ts';
import { requirePermission } from '#identity/principal.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { toFilters } from './answer.ts';
import { deleteFilter, findFilter, listFilters, lockFilters } from './filters.store.ts';
import { saveFilter as save } from './save-filter.ts';
import { FilterDraft, FilterParams, SavedFilter } from './saved-filters.schemas.ts';

const views = { permission: 'library:view' } as const;

export const listSavedFilters = defineEndpoint({
  operationId: 'listSavedFilters',
  method: 'get',
  path: '/libraries/:id/filters',
  summary: 'List the saved filters of a library',
  description:
    "Own ones by position, then shared ones by name. In another person's filter, ids and labels that the caller may not see are `hidden`. Conditions whose field or value is gone are in `broken`: leave them out when applying it.",
  access: views,
  params: IdParams,
  answer: json(200, z.object({ items: z.array(SavedFilter) })),

  async handle({ params }, call) {
    const library = await getVisibleLibrary(call.db, call.who, params.id);
    return { items: await toFilters(call, library, await listFilters(call.db, call.who, library.id)) };
  },
});

export const saveFilter = defineEndpoint({
  operationId: 'saveFilter',
  method: 'put',
  path: '/libraries/:id/filters/:filterId',
  summary: 'Save a filter',
  description:
    'The client makes the id: 201 for a new one, 200 when it replaces one. The filter is checked as if it were applied now; an issue names the number of its condition. A shared one, before or after, needs `library:manage`. At most 100 of a profile and 50 shared ones of a library (409 `too-many-filters`); a name in use is 409 `duplicate-name`.',
  access: views,
  params: FilterParams,
  body: FilterDraft,
  answer: json(200, SavedFilter),
  also: [201],
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['state.changed'],

  async handle({ params, body }, call) {
    return save(call, { libraryId: params.id, id: params.filterId, draft: body });
  },
});

export const deleteSavedFilter = defineEndpoint({
  operationId: 'deleteSavedFilter',
  method: 'delete',
  path: '/libraries/:id/filters/:filterId',
  summary: 'Delete a saved filter',
  description: "One's own, or with `library:manage` a shared one. Rows of Home that use it say that it is gone.",
  access: views,
  params: FilterParams,
  answer: none(),
  errors: ['FORBIDDEN'],
  emits: ['state.changed'],

  async handle({ params: { id: libraryId, filterId: id } }, call) {
    const { db, who } = call;
    await getVisibleLibrary(db, who, libraryId);
    await lockFilters(db, libraryId);
    const row = await findFilter(db, who, { libraryId, id });
    if (!row) throw notFound();
    if (row.profile_id !== who.profileId) requirePermission(who, 'library:manage');
    await deleteFilter(db, row);
    await emitState(call, { what: ['preferences'], itemIds: [] });
  },
});
