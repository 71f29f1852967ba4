import type { Db } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import { type KindId, kindOf, type Secrets, type Settings, type Where } from './kinds/kinds.ts';
import type { StorageReason, StorageState } from './storages.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'storages.kind': KindId;
    'storages.settings': Settings;
    'storages.state': StorageState;
    'storages.capacity': { totalBytes: number; freeBytes: number; at: string };
  }
}

export type StorageRow = Row<'storages'>;

/** Class and number of the advisory lock under which names, places and counts are compared. */
const LOCK = 4_712_030;

/** Until the end of the transaction no other one creates or moves a storage. */
export async function lockStorages(db: Db): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(?)', [LOCK]);
}

export async function findStorageRow(db: Db, id: string): Promise<StorageRow | undefined> {
  const [row] = await db('storages').where({ id }).select('*');
  return row && withSettings(row);
}

export async function lockStorageRow(db: Db, id: string): Promise<StorageRow | undefined> {
  const [row] = await db('storages').where({ id }).forUpdate().select('*');
  return row && withSettings(row);
}

export async function listStorageRows(db: Db): Promise<StorageRow[]> {
  const rows = await db('storages').orderBy(['name', 'id']).select('*');
  return rows.map(withSettings);
}

/** The root and the path of a mount are columns, which scans read. */
function withSettings(row: StorageRow): StorageRow {
  if (row.kind !== 'mount') return row;
  return { ...row, settings: { root: row.root_name ?? '', path: row.path } };
}

export async function insertStorageRow(
  db: Db,
  row: Partial<StorageRow> & Pick<StorageRow, 'id' | 'name' | 'kind' | 'settings'>,
): Promise<void> {
  await db('storages').insert({ ...row, ...written(row) });
}

export async function updateStorageRow(db: Db, id: string, change: Partial<StorageRow>): Promise<void> {
  await db('storages')
    .where({ id })
    .update({ ...change, ...written(change), updated_at: new Date() });
}

/** JSON as Postgres takes it; mounts have their root and path in columns too, which scans read. */
function written(row: Partial<StorageRow>): object {
  const { settings, managed_by: managedBy, identity, capacity } = row;
  return {
    ...(settings && { settings: JSON.stringify(settings) }),
    ...(settings &&
      typeof settings['root'] === 'string' && { root_name: settings['root'], path: settings['path'] ?? '' }),
    ...(managedBy && { managed_by: JSON.stringify(managedBy) }),
    ...(identity && { identity: JSON.stringify(identity) }),
    ...(capacity && { capacity: JSON.stringify(capacity) }),
  };
}

export async function deleteStorageRow(db: Db, id: string): Promise<void> {
  await db('storages').where({ id }).delete();
}

const placeOf = (id: string): string => `storages|secrets|${id}`;

/** Empty without secrets, and when no key of the ring opens them. */
export function secretsOf(keys: Keys, { id, secrets }: Pick<StorageRow, 'id' | 'secrets'>): Secrets {
  const text = secrets === null ? undefined : unseal(keys, secrets, placeOf(id));
  return text === undefined ? {} : (JSON.parse(text) as Secrets);
}

export function sealSecrets(keys: Keys, id: string, secrets: Secrets): string | null {
  return Object.keys(secrets).length === 0 ? null : seal(keys, JSON.stringify(secrets), placeOf(id));
}

export const whereOf = ({ kind, settings }: Pick<StorageRow, 'kind' | 'settings'>): Where =>
  kindOf(kind).where(settings);

/** The folders of libraries on a storage, with the libraries' names. */
export async function librariesOn(db: Db, ids: readonly string[]): Promise<FolderCount[]> {
  return db('library_folders as f')
    .join('libraries as l', 'l.id', 'f.library_id')
    .whereNull('l.deleted_at')
    .whereIn('f.storage_id', ids)
    .groupBy('f.storage_id', 'l.id', 'l.name')
    .orderBy('l.name')
    .select<FolderCount[]>('f.storage_id as storageId', 'l.id', 'l.name', db.raw('count(*)::int as folders'));
}

/** Libraries by the path of their folder on a storage. */
export async function librariesAt(
  db: Db,
  storageId: string,
): Promise<Map<string, { libraryId: string; name: string }[]>> {
  const rows = await db('library_folders as f')
    .join('libraries as l', 'l.id', 'f.library_id')
    .where({ 'f.storage_id': storageId, 'l.deleted_at': null })
    .select<{ path: string; libraryId: string; name: string }[]>('f.path', 'l.id as libraryId', 'l.name');
  return new Map(
    [...Map.groupBy(rows, ({ path }) => path)].map(([path, found]) => [
      path,
      found.map(({ libraryId, name }) => ({ libraryId, name })),
    ]),
  );
}

export interface FolderCount {
  storageId: string;
  id: string;
  name: string;
  folders: number;
}

/** What a check found out about a storage, apart from its state. */
export interface Observation {
  latencyMs?: number | undefined;
  space?: { totalBytes: number; freeBytes: number } | undefined;
  good: boolean;
}

export async function noteCheck(db: Db, id: string, { latencyMs, space, good }: Observation): Promise<void> {
  const now = new Date();
  await db('storages')
    .where({ id })
    .update({
      last_check_at: now,
      ...(good && { last_available_at: now }),
      ...(latencyMs !== undefined && { latency_ms: latencyMs }),
      ...(space && { capacity: JSON.stringify({ ...space, at: now.toISOString() }) }),
    });
}

/** The reason column holds only reasons of the contract. */
export const reasonOf = ({ reason }: Pick<StorageRow, 'reason'>): StorageReason | undefined =>
  (reason ?? undefined) as StorageReason | undefined;
