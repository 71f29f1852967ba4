import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { Id } from '#kernel/schemas.ts';
import { requireTool } from '../tools.ts';
import { FindQuery, SearchQuery, SubtitleFindings } from './find.schemas.ts';
import { find, searchAsEditor } from './find.ts';

const params = z.object({ id: Id });

export const findSubtitles = defineEndpoint({
  operationId: 'findSubtitles',
  method: 'get',
  path: '/items/:id/subtitles/find',
  summary: 'Find subtitles at the providers',
  description:
    'For films, episodes and videos; others are 409 `wrong-type`. What it finds can be fetched for half an hour. It spends nothing, but an account that is no administrator needs a use left today, has 30 searches an hour, one at a time, and finds no forced subtitles. `query` is for administrators. An equal question within 10 minutes has the earlier findings. Without a provider that answers it is 502.',
  access: { permission: 'library:view' },
  params,
  query: FindQuery,
  answer: json(200, SubtitleFindings),
  errors: ['FORBIDDEN', 'CONFLICT', 'RATE_LIMITED', 'PROVIDER_UNAVAILABLE'],

  async handle({ params, query }, call) {
    requireTool(call, 'find');
    return find(call, params.id, query);
  },
});

export const searchSubtitles = defineEndpoint({
  operationId: 'searchSubtitles',
  method: 'get',
  path: '/items/:id/subtitles/search',
  summary: 'Search for subtitles as an editor',
  description:
    'As findSubtitles without limits. `query` is searched in place of the identifiers of the item. Any editor may download the findings for a day.',
  access: { permission: 'item:edit' },
  params,
  query: SearchQuery,
  answer: json(200, SubtitleFindings),
  errors: ['CONFLICT', 'PROVIDER_UNAVAILABLE'],

  async handle({ params, query }, call) {
    return searchAsEditor(call, params.id, query);
  },
});
