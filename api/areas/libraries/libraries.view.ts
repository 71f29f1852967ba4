import type { Call } from '#kernel/endpoint.ts';
import { may } from '#kernel/principal.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Library, LibraryFolder } from './libraries.schemas.ts';
import type { LibraryRow } from './libraries.store.ts';
import { settingsOf } from './settings.ts';

interface FolderSeen {
  id: string;
  library_id: string;
  storage_id: string;
  storage_name: string;
  state: LibraryFolder['state'] | 'degraded' | 'connecting';
  enabled: boolean;
  path: string;
  added_by: string | null;
  added_at: Date;
  item_count: number;
}

interface ScanSeen {
  id: string;
  library_id: string;
  state: string;
  finished_at: Date | null;
  counts: { added?: number; updated?: number; missing?: number };
}

/** Everything of the wire's Library for these rows, in three queries however many there are. */
export async function toLibraries(call: Call, rows: readonly LibraryRow[]): Promise<Library[]> {
  const ids = rows.map((row) => row.id);
  const { db } = call;
  const folders = await readFolders(db, ids); // one after the other: they may share a transaction's connection
  const scans = await readLastScans(db, ids);
  const access = await readAccess(call, ids);
  return rows.map((row) =>
    toLibrary(call, row, {
      folders: folders.filter((folder) => folder.library_id === row.id),
      scan: scans.find((scan) => scan.library_id === row.id),
      accountIds: access.filter((one) => one.library_id === row.id).map((one) => one.account_id),
    }),
  );
}

export async function toOneLibrary(call: Call, row: LibraryRow): Promise<Library> {
  const [library] = await toLibraries(call, [row]);
  if (!library) throw new Error('a row makes a library');
  return library;
}

function readFolders(db: Db, ids: readonly string[]): Promise<FolderSeen[]> {
  return db('library_folders as f')
    .join('storages as s', 's.id', 'f.storage_id')
    .whereIn('f.library_id', ids)
    .orderBy(['f.added_at', 'f.id'])
    .select<FolderSeen[]>('f.*', 's.name as storage_name', 's.state', 's.enabled')
    .select(db.raw('(select count(distinct m.item_id) from media_files m where m.folder_id = f.id) as item_count'));
}

function readLastScans(db: Db, ids: readonly string[]): Promise<ScanSeen[]> {
  return db('scans')
    .distinctOn('library_id')
    .whereIn('library_id', ids)
    .orderBy(['library_id', { column: 'queued_at', order: 'desc' }])
    .select<ScanSeen[]>('id', 'library_id', 'state', 'finished_at', 'counts');
}

async function readAccess(
  { db, who }: Call,
  ids: readonly string[],
): Promise<{ library_id: string; account_id: string }[]> {
  return may(who, 'library:manage')
    ? db('library_access').whereIn('library_id', ids).select('library_id', 'account_id')
    : [];
}

interface Beside {
  folders: FolderSeen[];
  scan: ScanSeen | undefined;
  accountIds: string[];
}

function toLibrary(call: Call, row: LibraryRow, beside: Beside): Library {
  const { deps, who } = call;
  const manages = may(who, 'library:manage');
  const language = deps.settings.get('metadata.language') ?? deps.settings.get('server.language');
  const folders = beside.folders.map((folder) =>
    toFolder(folder, { path: manages || folder.added_by === who.accountId }),
  );
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    icon: row.icon,
    order: row.position,
    poster: null,
    settings: settingsOf(row, { language, country: deps.settings.get('server.country') }),
    folders,
    state: stateOf(folders, beside.scan),
    itemCounts: row.item_counts,
    sizeBytes: row.size_bytes,
    durationMs: row.duration_ms,
    missingCount: row.missing_count,
    lastScan: toLastScan(beside.scan),
    may: mayHere(row, call),
    ...(manages ? forManagers(row, beside.accountIds) : {}),
    managedBy: row.managed_by,
    revision: row.revision,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function forManagers(row: LibraryRow, accountIds: string[]): Pick<Library, 'access' | 'trashCount' | 'managedFields'> {
  const roles = row.access_roles as NonNullable<Library['access']>['roles'];
  return {
    access: { everyone: row.everyone, roles, accountIds },
    trashCount: row.trash_count,
    managedFields: row.managed_fields,
  };
}

function mayHere(row: LibraryRow, { who }: Call): Library['may'] {
  return {
    upload: row.type === 'photos' && may(who, 'photo:upload'),
    edit: may(who, 'item:edit'),
    scan: may(who, 'scan:trigger'),
    manage: may(who, 'library:manage'),
  };
}

function toFolder(folder: FolderSeen, show: { path: boolean }): LibraryFolder {
  const usable = folder.state === 'degraded' || folder.state === 'available';
  const state =
    folder.state === 'connecting' ? 'unavailable' : folder.state === 'degraded' ? 'available' : folder.state;
  return {
    id: folder.id,
    storageId: folder.storage_id,
    storageName: folder.storage_name,
    state: folder.enabled ? (usable ? 'available' : state) : 'disabled',
    itemCount: folder.item_count,
    addedBy: folder.added_by,
    addedAt: iso(folder.added_at),
    ...(show.path ? { path: folder.path } : {}),
  };
}

function stateOf(folders: readonly LibraryFolder[], scan: ScanSeen | undefined): Library['state'] {
  if (folders.length === 0) return 'empty';
  const away = folders.filter((folder) => folder.state !== 'available').length;
  if (away === folders.length) return 'unavailable';
  if (scan && ['queued', 'running'].includes(scan.state)) return 'scanning';
  return away > 0 ? 'partly-unavailable' : 'ready';
}

function toLastScan(scan: ScanSeen | undefined): Library['lastScan'] {
  if (!scan) return null;
  const { added = 0, updated = 0, missing = 0 } = scan.counts;
  return { id: scan.id, state: scan.state, finishedAt: iso(scan.finished_at), added, updated, missing };
}
