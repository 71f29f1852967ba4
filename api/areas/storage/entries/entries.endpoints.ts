import { may } from '#identity/principal.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { describeKinds } from '../kinds/kinds.ts';
import { StorageFault, type StorageReader } from '../readers/reader.ts';
import { readerOfStorage } from '../registry.ts';
import { getStorageRow, requireAvailable, requireStorageUser, unavailableError } from '../saved.ts';
import { EntriesQuery, Entry, HostQuery, HostRoot, StorageKindList } from '../storages.schemas.ts';
import { librariesAt, type StorageRow } from '../storages.store.ts';
import { pageOfEntries } from './entries.ts';
import { readHost } from './host.ts';

export const listStorageEntries = defineEndpoint({
  operationId: 'listStorageEntries',
  method: 'get',
  path: '/storages/:id/entries',
  summary: 'List a folder of a storage',
  description:
    'One level, read now. Hidden and system names are left out. A folder of over 50,000 entries is listed in the order the storage gives, without `page.total`. An unavailable storage is 423.',
  access: { signedIn: true },
  params: IdParams,
  query: EntriesQuery,
  answer: page(Entry),
  errors: ['FORBIDDEN', 'STORAGE_UNAVAILABLE'],

  async handle({ params, query }, call) {
    const row = await getStorageRow(call, params.id);
    requireAvailable(call, row);
    const reader = await opened(call, row);
    const of = `listStorageEntries ${row.id}`;
    const listed = await pageOfEntries(call, reader, { ...query, of, storageId: row.id, absent: 'not-found' });
    const used = await librariesAt(call.db, row.id);
    const items = listed.items.map((entry) => ({
      ...entry,
      ...(used.has(entry.path) && { usedBy: used.get(entry.path) }),
    }));
    return { ...listed, items };
  },
});

async function opened(call: Call, row: StorageRow): Promise<StorageReader> {
  return readerOfStorage(call.deps.config, row).catch((error: unknown) => {
    throw error instanceof StorageFault ? unavailableError(call, row.id, error.reason) : error;
  });
}

export const listStorageKinds = defineEndpoint({
  operationId: 'listStorageKinds',
  method: 'get',
  path: '/host/storage-kinds',
  summary: 'List the kinds of storages',
  description:
    'Each with the JSON Schema of its settings, for a form. Without `library:manage` only kinds that a member may connect.',
  access: { signedIn: true },
  answer: json(200, StorageKindList),
  errors: ['FORBIDDEN'],

  async handle(_input, call) {
    requireStorageUser(call);
    const all = may(call.who, 'library:manage');
    return { items: describeKinds().filter(({ personal }) => all || personal) };
  },
});

export const listHostEntries = defineEndpoint({
  operationId: 'listHostEntries',
  method: 'get',
  path: '/host/entries',
  summary: 'List folders below the media roots',
  description:
    'Without `root` the answer lists the `roots` and no entries. Only folders below media roots are listed; anything else is 400, and paths of the machine are never shown. A root that is not mounted is 423.',
  access: { permission: 'library:manage' },
  query: HostQuery,
  answer: page(Entry, { root: HostRoot.optional(), roots: HostRoot.array().optional() }),
  errors: ['STORAGE_UNAVAILABLE'],

  async handle({ query }, call) {
    return readHost(call, query);
  },
});
