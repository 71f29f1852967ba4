import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { spendFor } from '../allowance/allowance.ts';
import { requireTool } from '../tools.ts';
import { SyncResult } from './auto.schemas.ts';
import { autoSync } from './auto.ts';
import { SubtitleParams } from './sync.schemas.ts';

const common = {
  method: 'post',
  params: SubtitleParams,
  answer: json(200, SyncResult),
  emits: ['item.updated'],
  transaction: 'manual',
} as const;
const errors = [
  ...(['CONFLICT', 'MEDIA_UNSUPPORTED_CODEC', 'STORAGE_UNAVAILABLE'] as const),
  ...(['TRANSCODE_FAILED', 'TRANSCODE_LIMIT_REACHED'] as const),
];

export const autoSyncSubtitle = defineEndpoint({
  operationId: 'autoSyncSubtitle',
  path: '/items/:id/subtitles/:streamId/sync',
  summary: 'Fit a subtitle to the soundtrack',
  description:
    "Compares the cues with the speech of the default soundtrack, from the track's own timing. The request is held for up to 50 seconds, then it is answered with `running`; the next call joins the run. With a confidence below 0.5 nothing changes.",
  access: { permission: 'item:edit' },
  ...common,
  errors,

  async handle({ params }, call) {
    return autoSync(call, params);
  },
});

export const autoFixSubtitleTiming = defineEndpoint({
  operationId: 'autoFixSubtitleTiming',
  path: '/items/:id/subtitles/:streamId/timing',
  summary: 'Fit a subtitle to the soundtrack as a viewer',
  description:
    'As autoSyncSubtitle, for anyone who may use the subtitle tools. An account that is no administrator spends a use of the day, which is given back when nothing was heard.',
  access: { permission: 'library:view' },
  ...common,
  errors: [...errors, 'RATE_LIMITED'],

  async handle({ params }, call) {
    requireTool(call, 'sync');
    return autoSync(call, params, (inside) => spendFor(inside, { kind: 'sync', itemId: params.id }));
  },
});
