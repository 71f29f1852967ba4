import { z } from 'zod';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { Id } from '#kernel/schemas.ts';
import { readAllowance } from '../allowance/allowance.ts';
import { requireTool } from '../tools.ts';
import { DownloadedSubtitle, FetchedSubtitle, SubtitleChoice } from './fetch.schemas.ts';
import { download, fetchFound } from './fetch.ts';

const params = z.object({ id: Id });

export const fetchSubtitle = defineEndpoint({
  operationId: 'fetchSubtitle',
  method: 'post',
  path: '/items/:id/subtitles/fetch',
  summary: 'Fetch a found subtitle',
  description:
    'Adds a subtitle to the film that an own findSubtitles found in the last half hour, with the language and marks of the provider, kept with the files of the server. It spends one use of the day, which is given back when the fetch fails. A subtitle that the film has is 409 `already-here`. `language`, `hearingImpaired`, `forced` and `place` count for administrators only.',
  access: { permission: 'library:view' },
  params,
  body: SubtitleChoice,
  answer: json(201, FetchedSubtitle),
  transaction: 'manual',
  errors: ['FORBIDDEN', 'CONFLICT', 'STORAGE_UNAVAILABLE', 'RATE_LIMITED', 'PROVIDER_UNAVAILABLE'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    requireTool(call, 'find');
    const subtitle = await fetchFound(call, params.id, body);
    const allowance = await readAllowance(call);
    return { subtitle, ...(allowance && { allowance }) };
  },
});

export const downloadSubtitle = defineEndpoint({
  operationId: 'downloadSubtitle',
  method: 'post',
  path: '/items/:id/subtitles/download',
  summary: 'Download a found subtitle as an editor',
  description:
    'As fetchSubtitle, without spending a use, for any finding for this item of the last day. With `place` a file `<video>.<language>[.forced][.sdh].<ext>` may be written next to the film; an existing file stays and the name gets a number. A storage that is only read is 409 `read-only-storage`.',
  access: { permission: 'item:edit' },
  params,
  body: SubtitleChoice,
  answer: json(201, DownloadedSubtitle),
  transaction: 'manual',
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    return { subtitle: await download(call, params.id, body) };
  },
});
