import { defineEndpoint, none } from '#kernel/endpoint.ts';
import { KeptParams } from './kept.schemas.ts';
import { removeFetched } from './remove.ts';

export const removeSubtitle = defineEndpoint({
  operationId: 'removeSubtitle',
  method: 'delete',
  path: '/items/:id/subtitles/:file',
  summary: 'Remove a fetched subtitle',
  description:
    'The account that fetched it may remove it for a week, an administrator at any time. A track of the film or of a sidecar file is 409 `not-fetched`, a generated one 409 `generated`. Players that show it keep what they loaded.',
  access: { permission: 'library:view' },
  params: KeptParams,
  answer: none(),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['item.updated'],

  async handle({ params }, call) {
    await removeFetched(call, { id: params.id, streamId: params.file });
  },
});
