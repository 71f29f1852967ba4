import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { Id, IdParams } from '#kernel/schemas.ts';
import { setFavorite } from './favorites.ts';
import { mergeInto } from './merge-people.ts';
import {
  Favorite,
  FavoritePut,
  PeopleMerge,
  PersonCredit,
  PersonDetail,
  PersonItemsQuery,
  PersonRefresh,
} from './people.schemas.ts';
import { getVisiblePerson } from './people.view.ts';
import { personDetail } from './person-detail.ts';
import { creditedPage } from './person-items.ts';
import { requestRefresh } from './upkeep/request-refresh.ts';

export const listPersonItems = defineEndpoint({
  operationId: 'listPersonItems',
  method: 'get',
  path: '/people/:id/items',
  summary: 'List the visible items that credit a person',
  description:
    'Newest first unless `sort` is given. A show is listed once with its number of episodes; `episodes` lists these singly. An item with several roles is listed once.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: PersonItemsQuery,
  answer: page(PersonCredit),

  async handle({ params, query }, call) {
    return creditedPage(call, await getVisiblePerson(call, params.id), query);
  },
});

export const mergePeople = defineEndpoint({
  operationId: 'mergePeople',
  method: 'post',
  path: '/people/:id/merge',
  summary: 'Merge other people into this one',
  description:
    'Credits, aliases, favourites and missing fields of the others move to this person in one transaction; equal credits become one. Their ids stay valid for ever. Other external ids are kept as further ids, so that a refresh does not part the people again. The id itself among `personIds` is 400.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: PeopleMerge,
  answer: json(200, PersonDetail),
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const id = await mergeInto(call, await getVisiblePerson(call, params.id), body.personIds);
    return personDetail(call, await getVisiblePerson(call, id));
  },
});

export const refreshPerson = defineEndpoint({
  operationId: 'refreshPerson',
  method: 'post',
  path: '/people/:id/refresh',
  summary: 'Refresh a person from the agents',
  description:
    'Queries the agents that describe people, in the order of the library with most items of the person. Locked fields stay. One refresh of a person runs at a time, and a second call returns its job. Without an external id, and without an agent that searches by name, it is 409 `no-identity`.',
  access: { permission: 'item:edit' },
  params: IdParams,
  body: PersonRefresh,
  optionalBody: true,
  answer: json(202, z.object({ jobId: Id })),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    return { jobId: await requestRefresh(call, await getVisiblePerson(call, params.id), body) };
  },
});

export const setPersonFavorite = defineEndpoint({
  operationId: 'setPersonFavorite',
  method: 'put',
  path: '/people/:id/favorite',
  summary: 'Mark a person as a favourite of the profile',
  description:
    'A profile has at most 2,000 favourites (409 `too-many-favorites`). With `notify`, new items of the person reach the profile as one notification a day. `favorite: false` clears `notify`.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: FavoritePut,
  answer: json(200, Favorite),
  errors: ['CONFLICT'],
  emits: ['notification.created'],

  async handle({ params, body }, call) {
    return setFavorite(call, await getVisiblePerson(call, params.id), body);
  },
});
