import { requireAllowed } from '#identity/restrictions.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeRecording } from './change-recording.ts';
import { createRecordingOf } from './create-recording.ts';
import { deleteRecordingOf } from './delete-recording.ts';
import { listRecordingsOf } from './list-recordings.ts';
import {
  Recording,
  RecordingChange,
  RecordingDeletion,
  RecordingDraft,
  RecordingsQuery,
} from './recordings.schemas.ts';
import type { RecordingRow } from './recordings.store.ts';
import { toRecordings } from './recordings.view.ts';
import { getRecordingRow } from './visible.ts';

const views = { permission: 'library:view' } as const;
const records = { permission: 'download:own' } as const;

export const listRecordings = defineEndpoint({
  operationId: 'listRecordings',
  method: 'get',
  path: '/live/recordings',
  summary: 'List recordings',
  description:
    'Those whose channel and age rating the caller may see, the latest first unless `sort` is given. Finished ones are also plain items of their library.',
  access: views,
  query: RecordingsQuery,
  answer: page(Recording),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return listRecordingsOf(call, query);
  },
});

export const createRecording = defineEndpoint({
  operationId: 'createRecording',
  method: 'post',
  path: '/live/recordings',
  summary: 'Record a programme',
  description:
    'A programme of the guide, or a time of a channel. One on air starts now. Without a free slot the state is `conflict`, with other airings that would get one. A programme that is planned already is answered with 200. 400 `ended` for one that is over, 415 `drm` for an encrypted channel. 409 reasons are `disk-full`, `recording-limit` beyond 500 planned ones of an account, and `no-folder` when no library has a folder that may be written.',
  access: records,
  body: RecordingDraft,
  answer: json(201, Recording),
  also: [200],
  errors: ['CONFLICT', 'FORBIDDEN', 'NOT_FOUND', 'MEDIA_NOT_PLAYABLE'],
  emits: ['item.added', 'notification.created'],
  plus: 'dvr',

  async handle({ body }, call) {
    requireAllowed(call.who, 'liveTv');
    requireAllowed(call.who, 'record');
    const { row, known } = await createRecordingOf(call, body);
    if (known) call.reply.status(200);
    return shown(call, row);
  },
});

export const getRecording = defineEndpoint({
  operationId: 'getRecording',
  method: 'get',
  path: '/live/recordings/:id',
  summary: 'Read a recording',
  description:
    'While it records, `recordedMs` and `sizeBytes` are at most 10 seconds old. A finished one plays through `itemId`.',
  access: views,
  params: IdParams,
  answer: json(200, Recording),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    requireAllowed(call.who, 'liveTv');
    return shown(call, await getRecordingRow(call, params.id));
  },
});

export const updateRecording = defineEndpoint({
  operationId: 'updateRecording',
  method: 'patch',
  path: '/live/recordings/:id',
  summary: 'Change a recording',
  description:
    'For its owner, or with `library:manage`. While it records, only the end, priority and keepDays change (409 `recording-running`); an `endAt` that is not after now stops it and keeps what there is. A finished one takes keepDays only (409 `recording-finished`). Another airing that is planned already is 409 `already-planned`.',
  access: records,
  params: IdParams,
  body: RecordingChange,
  answer: json(200, Recording),
  errors: ['CONFLICT', 'FORBIDDEN', 'MEDIA_NOT_PLAYABLE'],
  emits: ['item.updated', 'notification.created'],

  async handle({ params, body }, call) {
    requireAllowed(call.who, 'liveTv');
    return shown(call, await changeRecording(call, params.id, body));
  },
});

export const deleteRecording = defineEndpoint({
  operationId: 'deleteRecording',
  method: 'delete',
  path: '/live/recordings/:id',
  summary: 'Delete a recording',
  description:
    'For its owner, or with `library:manage`. A planned one is cancelled, and no rule takes that airing again. A running one is stopped and discarded. A finished one leaves this list; with `deleteFile` its item and file go to the trash of the library, which is 409 `file-deletion-off` or `read-only` where that is not allowed. An item that has other files too, such as a film that was there before, keeps those; 409 `file-moved` when the file of the recording is not where it was written and so is not known among them.',
  access: records,
  params: IdParams,
  query: RecordingDeletion,
  answer: none(),
  errors: ['CONFLICT', 'FORBIDDEN', 'STORAGE_UNAVAILABLE'],
  emits: ['item.deleted'],

  async handle({ params, query }, call) {
    requireAllowed(call.who, 'liveTv');
    await deleteRecordingOf(call, params.id, query);
  },
});

async function shown(call: Call, row: RecordingRow): Promise<Recording> {
  const [recording] = await toRecordings(call, [row]);
  if (!recording) throw notFound();
  return recording;
}
