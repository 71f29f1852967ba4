import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { IdParams } from '#kernel/schemas.ts';
import { kindOf, type Secrets, type Settings } from '../kinds/kinds.ts';
import { mergedSecrets, parsedSettings, requireSecrets } from '../places.ts';
import { relocate } from '../relocate.ts';
import { describeTry, getStorageRow, tryPlace } from '../saved.ts';
import { IdentityBody, RelocateBody, Relocated, Storage, StorageCheck, StorageTest } from '../storages.schemas.ts';
import { findStorageRow, secretsOf } from '../storages.store.ts';
import { describeStorage } from '../storages.view.ts';
import { acceptIdentity } from './accept.ts';
import { checkSaved } from './check-saved.ts';

const TESTS_A_MINUTE = 10;

export const testStorage = defineEndpoint({
  operationId: 'testStorage',
  method: 'post',
  path: '/storages/test',
  summary: 'Test settings of a storage',
  description:
    'Tries settings that are not saved within 10 seconds and changes nothing; the step `write` makes and deletes one file of one byte unless the settings have `readOnly` true. A failing test is 200 with `ok` false. Without `hostKeySha256` sftp fails with the key of the host. Secrets of `storageId` are used only for the same kind and host (409 `place-differs`). Ten a minute for an account.',
  access: { permission: 'library:manage' },
  body: StorageTest,
  answer: json(200, StorageCheck),
  errors: ['CONFLICT', 'NOT_FOUND', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    const { readOnly: given, ...settings } = body.settings;
    const parsed = parsedSettings(body.kind, settings);
    requireSecrets(body.kind, body.secrets ?? {});
    const { redis, config } = call.deps;
    await limitAttempts({ redis, replicas: config.replicas }, `storage-test:${call.who.accountId}`, TESTS_A_MINUTE);
    const secrets = mergedSecrets(await savedSecrets(call, body, parsed), body.secrets ?? {});
    const readOnly = given === true;
    const place = { kind: body.kind, settings: parsed, secrets, readOnly, ownerId: null, write: !readOnly };
    const checked = await tryPlace(call, place);
    return { ...describeTry(checked, body.kind), ...(body.storageId && { storageId: body.storageId }) };
  },
});

/** Throws 404, and 409 for another kind or host, so that saved secrets cannot be sent elsewhere. */
async function savedSecrets(
  { db, deps }: Call,
  { storageId, kind }: StorageTest,
  settings: Settings,
): Promise<Secrets> {
  if (storageId === undefined) return {};
  const row = await findStorageRow(db, storageId);
  if (!row) throw notFound();
  const { where } = kindOf(kind);
  if (row.owner_id !== null || row.kind !== kind || where(settings).host !== where(row.settings).host)
    throw conflict('place-differs', 'The secrets of this storage are for another place');
  return secretsOf(deps.keys, row);
}

export const checkStorage = defineEndpoint({
  operationId: 'checkStorage',
  method: 'post',
  path: '/storages/:id/check',
  summary: 'Check a storage now',
  description:
    'Mounts are checked from every process, which have 5 seconds to answer. Callers within 5 seconds share one result. The state changes after two equal checks in a row of the workers.',
  access: { signedIn: true },
  params: IdParams,
  answer: json(200, StorageCheck),
  errors: ['FORBIDDEN'],
  transaction: 'manual',

  async handle({ params }, call) {
    return checkSaved(call, await getStorageRow(call, params.id));
  },
});

export const setStorageIdentity = defineEndpoint({
  operationId: 'setStorageIdentity',
  method: 'put',
  path: '/storages/:id/identity',
  summary: 'Accept a suspect storage',
  description:
    'Says that a suspect storage is the right one, for the current reason. It gets a new epoch, and items keep their ids. An empty root also needs `expectItemsMissing`, and the guard of scans still requires an answer before anything goes to the trash. 409 reasons are `not-suspect` and `reason-changed`.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: IdentityBody,
  answer: json(200, Storage),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['system.storage.available'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return describeStorage(call, await acceptIdentity(call, params.id, body));
  },
});

export const relocateStorage = defineEndpoint({
  operationId: 'relocateStorage',
  method: 'post',
  path: '/storages/:id/relocate',
  summary: 'Point a storage at a new place',
  description:
    'A random sample of known files is compared by size and sampled hash for at most 60 seconds; under 98 percent is 409 `content-differs` with the numbers unless `force` is true. With `dryRun` nothing changes. Saved secrets are used only at the same host. Open reads finish at the old place, a quick scan follows, and nothing is copied.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: RelocateBody,
  answer: json(200, Relocated),
  errors: ['CONFLICT'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    const { row, ...compared } = await relocate(call, params.id, body);
    return { dryRun: body.dryRun, ...compared, storage: await describeStorage(call, row) };
  },
});
