import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { endRequest, requestSubtitles } from './generate.ts';
import { listRequests } from './list.ts';
import { GenerateBody, GeneratedQuery, GenerationRequest } from './speech.schemas.ts';

export const generateSubtitles = defineEndpoint({
  operationId: 'generateSubtitles',
  method: 'post',
  path: '/items/:id/subtitles/generate',
  summary: 'Request subtitles from speech',
  description:
    'A worker hears the soundtrack and writes the text, as spoken or translated into English. An equal request under way is answered with 200. 409 reasons are `wrong-type`, `no-soundtrack`, `no-model`, `already-made` and `subtitled` (both with `details.streamId`), `already-english` and `too-many-waiting`. Those who are no administrators spend one use of their allowance; when none is left it is 429.',
  access: { permission: 'library:view' },
  params: IdParams,
  body: GenerateBody,
  answer: json(202, GenerationRequest),
  errors: ['CONFLICT', 'FORBIDDEN', 'RATE_LIMITED', 'STORAGE_UNAVAILABLE'],
  emits: ['item.updated', 'notification.created'],

  async handle({ params, body }, call) {
    return requestSubtitles(call, params.id, body);
  },
});

export const listGeneratedSubtitles = defineEndpoint({
  operationId: 'listGeneratedSubtitles',
  method: 'get',
  path: '/items/:id/subtitles/generated',
  summary: 'List requests for subtitles from speech',
  description:
    'Requests of everyone for the item; a season or show lists those of its episodes, in their order unless a sort is given, with `item`. The requester is shown to administrators. Poll every 5 seconds; the response has an ETag.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: GeneratedQuery,
  answer: page(GenerationRequest),

  async handle({ params, query }, call) {
    return answerUnlessSame(call, await listRequests(call, params.id, query));
  },
});

export const deleteGeneration = defineEndpoint({
  operationId: 'deleteGeneration',
  method: 'delete',
  path: '/subtitles/generations/:id',
  summary: 'End a request for subtitles from speech',
  description:
    'A waiting or running request is cancelled; of a finished one the subtitle is removed; a failed or cancelled one is forgotten. For the requester and for administrators. A use is given back when nothing was started, or when somebody else cancels.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN'],
  emits: ['item.updated'],

  async handle({ params }, call) {
    await endRequest(call, params.id);
  },
});
