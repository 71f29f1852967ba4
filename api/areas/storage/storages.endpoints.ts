import { may } from '#identity/principal.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeStorage } from './change.ts';
import { createStorageOf } from './create.ts';
import { removeStorage } from './delete.ts';
import { getStorageRow, requireStorageUser } from './saved.ts';
import { Storage, StorageChange, StorageDraft, StorageList, StorageQuery, StoragesQuery } from './storages.schemas.ts';
import { librariesOn, listStorageRows } from './storages.store.ts';
import { describeStorage, describeStorages, isTheirs } from './storages.view.ts';

export const listStorages = defineEndpoint({
  operationId: 'listStorages',
  method: 'get',
  path: '/storages',
  summary: 'List storages',
  description:
    "All with `library:manage`, otherwise the drives that the caller connected; with neither `library:manage` nor `photo:upload` it is 403. Settings of others' drives are left out but for the host.",
  access: { signedIn: true },
  query: StoragesQuery,
  answer: json(200, StorageList),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    requireStorageUser(call);
    const { db, who } = call;
    const mine = query.mine ?? !may(who, 'library:manage');
    const rows = (await listStorageRows(db)).filter(
      (row) => isTheirs(who, row) && (!mine || row.owner_id === who.accountId),
    );
    const used = await librariesOn(
      db,
      rows.map(({ id }) => id),
    );
    const isWanted = ({ id, kind, state, enabled }: (typeof rows)[number]): boolean =>
      (query.kind === undefined || kind === query.kind) &&
      (query.state === undefined || (enabled ? state : 'disabled') === query.state) &&
      (query.libraryId === undefined || used.some((one) => one.storageId === id && one.id === query.libraryId));
    return { items: await describeStorages(call, rows.filter(isWanted), query.include?.includes('usage')) };
  },
});

export const createStorage = defineEndpoint({
  operationId: 'createStorage',
  method: 'post',
  path: '/storages',
  summary: 'Create a storage',
  description:
    'With `check` it is tested first, and a failure is 409 `check-failed` (`details.check`) with nothing saved. Other 409 reasons are `duplicate-name`, `duplicate-storage` (`details.storageId`) when the place is the same as that of another or one contains the other, `marked-by-another` unless `takeOver` is true, and `storage-limit`. An address that storages do not reach is 400 `address_not_allowed`. A repeated request of the operator with the same `managedBy.uid` and name is 200 with the existing storage.',
  access: { permission: 'library:manage' },
  body: StorageDraft,
  answer: json(201, Storage),
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { row, repeated } = await createStorageOf(call, body);
    if (repeated) call.reply.status(200);
    return describeStorage(call, row);
  },
});

export const getStorage = defineEndpoint({
  operationId: 'getStorage',
  method: 'get',
  path: '/storages/:id',
  summary: 'Read a storage',
  description: 'Usage is at most 60 seconds old. Storages of others are 404 without `library:manage`.',
  access: { signedIn: true },
  params: IdParams,
  query: StorageQuery,
  answer: json(200, Storage),
  errors: ['FORBIDDEN'],

  async handle({ params, query }, call) {
    const row = await getStorageRow(call, params.id);
    const [storage] = await describeStorages(call, [row], query.include?.includes('usage'));
    return storage as Storage;
  },
});

export const updateStorage = defineEndpoint({
  operationId: 'updateStorage',
  method: 'patch',
  path: '/storages/:id',
  summary: 'Change a storage',
  description:
    'For new credentials and options. A changed place is 409 `use-relocate` while folders use it. `enabled` false is a planned outage with all the protection of a real one. With `check` changed settings are tested first (409 `check-failed`). A field that a resource owns is 409 `managed-by-resource`; name and enabled stay free.',
  access: { signedIn: true },
  params: IdParams,
  body: StorageChange,
  answer: json(200, Storage),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['system.storage.unavailable', 'system.storage.available'],
  transaction: 'manual',

  async handle({ params, body }, call) {
    return describeStorage(call, await changeStorage(call, params.id, body));
  },
});

export const deleteStorage = defineEndpoint({
  operationId: 'deleteStorage',
  method: 'delete',
  path: '/storages/:id',
  summary: 'Delete a storage',
  description:
    "409 `in-use` (`details.libraries`) while a library has folders on it; the items of a member's own drive go to the trash instead. Secrets are erased and the marker of a writable storage is removed; files are never touched.",
  access: { signedIn: true },
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT', 'FORBIDDEN'],
  transaction: 'manual',

  async handle({ params }, call) {
    await removeStorage(call, params.id);
  },
});
