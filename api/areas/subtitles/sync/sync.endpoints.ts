import { SubtitleSync } from '#areas/items/public.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { SubtitleParams, SyncChange } from './sync.schemas.ts';
import { admitTiming, clearSync, readSync, setSync } from './sync.ts';

const SYNC = '/items/:id/subtitles/:streamId/sync';
const TIMING = '/items/:id/subtitles/:streamId/timing';

const common = { params: SubtitleParams, emits: ['item.updated'] } as const;

export const getSubtitleSync = defineEndpoint({
  operationId: 'getSubtitleSync',
  method: 'get',
  path: SYNC,
  summary: 'Read the timing of a subtitle',
  description:
    'A track that was never corrected has offset 0, rate 1 and source `none`. `running` is an automatic correction in progress.',
  access: { permission: 'library:view' },
  params: SubtitleParams,
  answer: json(200, SubtitleSync),

  async handle({ params }, call) {
    return readSync(call, params);
  },
});

export const setSubtitleSync = defineEndpoint({
  operationId: 'setSubtitleSync',
  method: 'put',
  path: SYNC,
  summary: 'Correct the timing of a subtitle',
  description:
    'Replaces any correction, for everyone. Shown time is cue time x `rate` + the offset in force at that cue. `pieces` must rise in `fromMs`. While an automatic correction runs it is 409 `sync-running`.',
  access: { permission: 'item:edit' },
  ...common,
  body: SyncChange,
  answer: json(200, SubtitleSync),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    return setSync(call, params, body);
  },
});

export const clearSubtitleSync = defineEndpoint({
  operationId: 'clearSubtitleSync',
  method: 'delete',
  path: SYNC,
  summary: 'Remove the correction of a subtitle',
  description:
    'The track has its own timing again, and a running automatic correction stops. The request is idempotent.',
  access: { permission: 'item:edit' },
  ...common,
  answer: none(),

  async handle({ params }, call) {
    await clearSync(call, params);
  },
});

export const setSubtitleTiming = defineEndpoint({
  operationId: 'setSubtitleTiming',
  method: 'put',
  path: TIMING,
  summary: 'Correct the timing of a subtitle as a viewer',
  description:
    'As setSubtitleSync, for anyone who may use the subtitle tools. It spends nothing; an account that is no administrator has 60 changes an hour.',
  access: { permission: 'library:view' },
  ...common,
  body: SyncChange,
  answer: json(200, SubtitleSync),
  errors: ['CONFLICT', 'RATE_LIMITED'],

  async handle({ params, body }, call) {
    await admitTiming(call);
    return setSync(call, params, body);
  },
});

export const clearSubtitleTiming = defineEndpoint({
  operationId: 'clearSubtitleTiming',
  method: 'delete',
  path: TIMING,
  summary: 'Remove the correction of a subtitle as a viewer',
  description:
    'As clearSubtitleSync, for anyone who may use the subtitle tools. It counts among the 60 changes an hour.',
  access: { permission: 'library:view' },
  ...common,
  answer: none(),
  errors: ['RATE_LIMITED'],

  async handle({ params }, call) {
    await admitTiming(call);
    await clearSync(call, params);
  },
});
