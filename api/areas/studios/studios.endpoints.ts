import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { listVisibleStudios } from './list-studios.ts';
import { getStudioDetail } from './studio-detail.ts';
import { Studio, StudioDetail, StudiosQuery } from './studios.schemas.ts';

export const listStudios = defineEndpoint({
  operationId: 'listStudios',
  method: 'get',
  path: '/libraries/:id/studios',
  summary: 'List who made or aired items of a library',
  description:
    'Studios, networks, labels, publishers, developers or institutions, by the type of the library, with at least one item that the caller may see. `q` matches by the start of words and by likeness. The library of photos has none.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: StudiosQuery,
  answer: page(Studio),

  async handle({ params, query }, call) {
    return listVisibleStudios(call, params.id, query);
  },
});

export const getStudio = defineEndpoint({
  operationId: 'getStudio',
  method: 'get',
  path: '/studios/:id',
  summary: 'Read a studio',
  description:
    'Genres, years and items cover only visible items; a studio without a visible item is 404. `elsewhere` lists the same company in other visible libraries, by external id.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, StudioDetail),

  async handle({ params }, call) {
    return getStudioDetail(call, params.id);
  },
});
