import { Job, readJob } from '#areas/jobs/public.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeTuner } from './change-tuner.ts';
import { createTunerOf } from './create-tuner.ts';
import { deleteTunerOf } from './delete-tuner.ts';
import { discover } from './discover.ts';
import { getTunerRow, refuseInUse, requestScan } from './saved.ts';
import {
  DiscoverBody,
  Discovered,
  PLAYLIST_BYTES,
  playlistMedia,
  ScanBody,
  Tuner,
  TunerChange,
  TunerDraft,
  TunerList,
  TunerQuery,
} from './tuners.schemas.ts';
import { listTunerRows, type TunerRow } from './tuners.store.ts';
import { toTuners } from './tuners.view.ts';

const manages = { permission: 'library:manage' } as const;
const files = { playlist: { media: playlistMedia, maxBytes: PLAYLIST_BYTES } };

async function toOneTuner(call: Call, row: TunerRow): Promise<Tuner> {
  const [tuner] = await toTuners(call, [row]);
  if (!tuner) throw notFound();
  return tuner;
}

function refuseDisabled({ enabled }: TunerRow): void {
  if (!enabled) throw conflict('tuner-disabled', 'The tuner is switched off');
}

export const listTuners = defineEndpoint({
  operationId: 'listTuners',
  method: 'get',
  path: '/live/tuners',
  summary: 'List tuners',
  description:
    'At most 50. Slots and signal are what the pod of each tuner reported in the last 15 seconds; a silent one is `unreachable`.',
  access: manages,
  answer: json(200, TunerList),
  errors: ['FORBIDDEN'],

  async handle(_input, call) {
    requireAllowed(call.who, 'liveTv');
    return { items: await toTuners(call, await listTunerRows(call.db)) };
  },
});

export const createTuner = defineEndpoint({
  operationId: 'createTuner',
  method: 'post',
  path: '/live/tuners',
  summary: 'Add a tuner',
  description:
    'Exactly one of `url`, `deviceId` and, in a form, the file `playlist`. A worker tries the address within 10 seconds: 502 when it does not answer as its kind, 400 `address_not_allowed` outside `live.allowedNetworks`, and nothing is saved. A scan follows. 409 `duplicate-device` has `details.tunerId`. A repeated request of the operator with the same `managedBy.uid` is 200, and what it declares is not tried.',
  access: manages,
  body: TunerDraft,
  files,
  answer: json(201, Tuner),
  errors: ['CONFLICT', 'FORBIDDEN', 'PROVIDER_UNAVAILABLE'],

  async handle({ body }, call) {
    requireAllowed(call.who, 'liveTv');
    const { row, repeated } = await createTunerOf(call, body);
    if (repeated) call.reply.status(200);
    return toOneTuner(call, row);
  },
});

export const getTuner = defineEndpoint({
  operationId: 'getTuner',
  method: 'get',
  path: '/live/tuners/:id',
  summary: 'Read a tuner',
  description: 'During a scan `scan` shows its progress.',
  access: manages,
  params: IdParams,
  answer: json(200, Tuner),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    return toOneTuner(call, await getTunerRow(call, params.id));
  },
});

export const updateTuner = defineEndpoint({
  operationId: 'updateTuner',
  method: 'patch',
  path: '/live/tuners/:id',
  summary: 'Change a tuner',
  description:
    'A new address is tried as in createTuner. A changed address, filter or playlist is scanned again. Null removes a value. 409 `managed-by-resource` for a declared field; disabling while channels are on is 409 `tuner-in-use` unless `force`.',
  access: manages,
  params: IdParams,
  body: TunerChange,
  files,
  answer: json(200, Tuner),
  errors: ['CONFLICT', 'FORBIDDEN', 'PROVIDER_UNAVAILABLE'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return toOneTuner(call, await changeTuner(call, params.id, body));
  },
});

export const deleteTuner = defineEndpoint({
  operationId: 'deleteTuner',
  method: 'delete',
  path: '/live/tuners/:id',
  summary: 'Delete a tuner',
  description:
    'Its sources go, and channels without another source with them; favourites of channels that stay are kept. 409 `managed-by-resource` for a declared tuner; 409 `tuner-in-use` (`details.viewers`, `details.recordings`) unless `force`.',
  access: manages,
  params: IdParams,
  query: TunerQuery,
  answer: none(),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['item.deleted'],

  async handle({ params, query }, call) {
    await deleteTunerOf(call, params.id, { force: query.force ?? false });
  },
});

export const discoverTuners = defineEndpoint({
  operationId: 'discoverTuners',
  method: 'post',
  path: '/live/tuners/discover',
  summary: 'Look for tuners in the home network',
  description:
    'A worker requests `discover.json` of each address, and broadcasts on UDP 65001 where it stands in the home network itself (`broadcast` true). One search at a time (409 `already-running`). Addresses outside the local networks are 400 `address_not_allowed`, and nothing is added. 502 when no worker does it.',
  access: manages,
  body: DiscoverBody,
  optionalBody: true,
  answer: json(200, Discovered),
  errors: ['CONFLICT', 'FORBIDDEN', 'PROVIDER_UNAVAILABLE'],
  transaction: 'manual',

  async handle({ body }, call) {
    return discover(call, body ?? { addresses: [], timeoutMs: 3000 });
  },
});

export const scanTuner = defineEndpoint({
  operationId: 'scanTuner',
  method: 'post',
  path: '/live/tuners/:id/scan',
  summary: 'Read the channels of a tuner again',
  description:
    'A scan that waits or runs is answered with 200. New channels come in enabled, but disabled when more than 500 entries are chosen. Fields that a person set stay. `deep` lets the device search its frequencies first (409 `tuner-in-use` while a channel is on; a playlist ignores it). A disabled tuner is 409 `tuner-disabled`.',
  access: manages,
  params: IdParams,
  body: ScanBody,
  optionalBody: true,
  answer: json(202, Job),
  also: [200],
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['item.added', 'item.updated'],

  async handle({ params, body }, call) {
    const row = await getTunerRow(call, params.id);
    refuseDisabled(row);
    const { deep, prune } = body ?? { deep: false, prune: false };
    if (deep && row.kind === 'hdhomerun') await refuseInUse(call, row.id);
    const { jobId, known } = await requestScan(call.db, row, {
      deep,
      prune,
      cause: 'person',
      byAccountId: call.who.accountId,
    });
    if (known) call.reply.status(200);
    return readJob(call, jobId);
  },
});
