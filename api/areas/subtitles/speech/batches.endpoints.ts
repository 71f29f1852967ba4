import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { requestBatch, stopBatch } from './batches.ts';
import { BatchAnswer, BatchBody, SubtitleBatch } from './speech.schemas.ts';

export const createSubtitleBatch = defineEndpoint({
  operationId: 'createSubtitleBatch',
  method: 'post',
  path: '/subtitles/batches',
  summary: 'Request subtitles from speech for many items',
  description:
    'For administrators. Seasons and shows stand for their episodes, at most 5,000 in all. Requests of a batch are served after single ones and rest while anyone streams. Items that need nothing are in `skipped`; an item that the caller cannot see is 404 and nothing is queued. With `dryRun` the answer has only the count and the estimated time on this server.',
  access: { permission: 'item:edit' },
  body: BatchBody,
  answer: json(202, BatchAnswer),
  errors: ['CONFLICT', 'FORBIDDEN', 'NOT_FOUND'],

  async handle({ body }, call) {
    return requestBatch(call, body);
  },
});

export const stopSubtitleBatch = defineEndpoint({
  operationId: 'stopSubtitleBatch',
  method: 'delete',
  path: '/subtitles/batches/:id',
  summary: 'Stop the rest of a batch',
  description:
    'Waiting and running requests are cancelled; finished subtitles stay. The request is idempotent. A batch is known for 90 days.',
  access: { permission: 'item:edit' },
  params: IdParams,
  answer: json(200, SubtitleBatch),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    return stopBatch(call, params.id);
  },
});
