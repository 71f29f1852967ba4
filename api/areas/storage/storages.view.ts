import { may, type Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { kindOf } from './kinds/kinds.ts';
import type { Storage, StorageUsage } from './storages.schemas.ts';
import { type FolderCount, librariesOn, reasonOf, type StorageRow, secretsOf, whereOf } from './storages.store.ts';

/** Describes storages for the caller, in order. */
export async function describeStorages(
  call: Pick<Call, 'db' | 'deps' | 'who'>,
  rows: readonly StorageRow[],
  usage: boolean | undefined = false,
): Promise<Storage[]> {
  const ids = rows.map(({ id }) => id);
  const libraries = Map.groupBy(await librariesOn(call.db, ids), ({ storageId }) => storageId);
  const used = usage ? await usageOf(call.db, ids) : new Map<string, StorageUsage>();
  return rows.map((row) => ({
    ...toStorage(call, row),
    libraries: (libraries.get(row.id) ?? []).map(toLibrary),
    ...(usage && { usage: used.get(row.id) ?? noUsage() }),
  }));
}

export async function describeStorage(call: Pick<Call, 'db' | 'deps' | 'who'>, row: StorageRow): Promise<Storage> {
  const [storage] = await describeStorages(call, [row]);
  if (!storage) throw notFound();
  return storage;
}

const toLibrary = ({ id, name, folders }: FolderCount): Storage['libraries'][number] => ({ id, name, folders });

function toStorage({ deps, who }: Pick<Call, 'deps' | 'who'>, row: StorageRow): Omit<Storage, 'libraries'> {
  const kind = kindOf(row.kind);
  const foreign = row.owner_id !== null && row.owner_id !== who.accountId;
  const secrets = secretsOf(deps.keys, row);
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    ...stateOf(row),
    stateSince: iso(row.state_since),
    enabled: row.enabled,
    readOnly: row.read_only,
    settings: foreign ? { host: whereOf(row).host } : row.settings,
    secrets: foreign ? {} : Object.fromEntries(kind.secretKeys.map((key) => [key, key in secrets])),
    capabilities: { ...kind.capabilities, write: kind.capabilities.write && !row.read_only },
    ...observed(row),
    identity: identityOf(row),
    ...(row.owner_id && { ownerId: row.owner_id }),
    ...(row.managed_by && { managedBy: row.managed_by, managedFields: row.managed_fields }),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function stateOf(row: StorageRow): Pick<Storage, 'state' | 'reason'> {
  if (!row.enabled) return { state: 'disabled' };
  const reason = reasonOf(row);
  return { state: row.state, ...(reason && { reason }) };
}

function identityOf(row: StorageRow): Storage['identity'] {
  const { marked_at: markedAt, epoch } = row;
  return { method: methodOf(row), epoch: Number(epoch), ...(markedAt && { markedAt: iso(markedAt) }) };
}

function methodOf({ marked_at: marked, identity }: StorageRow): Storage['identity']['method'] {
  if (marked) return 'marker';
  return identity.sample?.length ? 'sample' : 'filesystem';
}

function observed(row: StorageRow): Partial<Storage> {
  return {
    ...(row.capacity && { capacity: row.capacity }),
    ...(row.latency_ms !== null && { latencyMs: row.latency_ms }),
    ...(row.last_check_at && { lastCheckAt: iso(row.last_check_at) }),
    ...(row.last_available_at && { lastAvailableAt: iso(row.last_available_at) }),
  };
}

/** Whether the caller may see and change it: managers all, others the drives that they connected. */
export const isTheirs = (who: Principal, { owner_id: owner }: Pick<StorageRow, 'owner_id'>): boolean =>
  may(who, 'library:manage') || (owner !== null && owner === who.accountId);

const noUsage = (): StorageUsage => ({
  ...{ items: 0, files: 0, sizeBytes: 0, byLibrary: [], trashBytes: 0, missingFiles: 0 },
  at: new Date().toISOString(),
});

interface UsageRow {
  storageId: string;
  libraryId: string;
  items: number;
  files: number;
  sizeBytes: number;
  trashBytes: number;
  missingFiles: number;
}

/** Usage counts are at most this old. */
const FRESH_MS = 60_000;
const MOST_KEPT = 1000;
const kept = new Map<string, { at: number; usage: StorageUsage }>();

/** Counted at most once a minute in a process, because it reads every file row of a storage. */
async function usageOf(db: Db, ids: readonly string[]): Promise<Map<string, StorageUsage>> {
  const now = Date.now();
  const due = ids.filter((id) => now - (kept.get(id)?.at ?? 0) > FRESH_MS);
  const rows = due.length === 0 ? [] : await countUsage(db, due);
  const byStorage = Map.groupBy(rows, ({ storageId }) => storageId);
  if (kept.size + due.length > MOST_KEPT) kept.clear();
  for (const id of due) kept.set(id, { at: now, usage: summed(byStorage.get(id) ?? []) });
  return new Map(ids.flatMap((id) => (kept.has(id) ? [[id, kept.get(id)?.usage as StorageUsage]] : [])));
}

async function countUsage(db: Db, ids: readonly string[]): Promise<UsageRow[]> {
  return db('media_files as f')
    .join('items as i', 'i.id', 'f.item_id')
    .whereIn('f.storage_id', ids)
    .groupBy('f.storage_id', 'f.library_id')
    .select<UsageRow[]>(
      'f.storage_id as storageId',
      'f.library_id as libraryId',
      db.raw(`count(distinct f.item_id)::int as items, count(*)::int as files,
        coalesce(sum(f.size_bytes), 0)::bigint as "sizeBytes",
        coalesce(sum(f.size_bytes) filter (where i.trashed_at is not null), 0)::bigint as "trashBytes",
        (count(*) filter (where f.missing_since is not null))::int as "missingFiles"`),
    );
}

function summed(rows: readonly UsageRow[]): StorageUsage {
  const sum = (name: 'items' | 'files' | 'sizeBytes' | 'trashBytes' | 'missingFiles'): number =>
    rows.reduce((all, row) => all + Number(row[name]), 0);
  return {
    ...{ items: sum('items'), files: sum('files'), sizeBytes: sum('sizeBytes') },
    byLibrary: rows.map(({ libraryId, files, sizeBytes }) => ({ libraryId, files, sizeBytes: Number(sizeBytes) })),
    ...{ trashBytes: sum('trashBytes'), missingFiles: sum('missingFiles') },
    at: new Date().toISOString(),
  };
}
