import { may } from '#identity/principal.ts';
import { limitsItems, onlyVisibleItems, onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { imageRefSql } from '#kernel/images.ts';
import { iso } from '#kernel/schemas.ts';
import { named, remembered } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import { baseOf, shownType } from '#platform/own-types.ts';
import type { Library, LibraryFolder } from './libraries.schemas.ts';
import type { LibraryRow } from './libraries.store.ts';
import { settingsOf } from './settings.ts';

interface FolderFacts {
  id: string;
  storage_id: string;
  storage_name: string;
  state: LibraryFolder['state'] | 'degraded' | 'connecting';
  enabled: boolean;
  /** The folder is unavailable, though its storage is available. */
  unavailable: boolean;
  path: string;
  added_by: string | null;
  added_at: string;
  item_count: number;
}

interface ScanFacts {
  id: string;
  state: string;
  finished_at: string | null;
  counts: { added?: number; updated?: number; missing?: number };
}

interface LibraryFacts {
  id: string;
  poster: Library['poster'];
  folders: FolderFacts[] | null;
  scan: ScanFacts | null;
  accounts: string[] | null;
}

const FOLDERS = `(select json_agg(json_build_object('id', f.id, 'storage_id', f.storage_id, 'storage_name', s.name, 'state', s.state, 'unavailable', f.away,
     'enabled', s.enabled, 'path', f.path, 'added_by', f.added_by, 'added_at', f.added_at, 'item_count', f.item_count)
     order by f.added_at, f.id)
   from library_folders f join storages s on s.id = f.storage_id where f.library_id = l.id)`;
const SCAN = `(select json_build_object('id', c.id, 'state', c.state, 'finished_at', c.finished_at, 'counts', c.counts)
   from scans c where c.library_id = l.id order by c.queued_at desc limit 1)`;
/** The chosen poster, else the mosaic, which those who see the library in part (SQL `whole` is false) do not get. */
const posterSql = (whole: string): string =>
  imageRefSql(`(select coalesce(shown.poster_image_id, case when ${whole} then (select m.id from images m
     where m.owner_kind = 'library' and m.owner_id = shown.id and m.source = 'mosaic' and not m.discarded limit 1) end)
   from libraries shown where shown.id = l.id)`);
const ACCOUNTS = '(select json_agg(a.account_id) from library_access a where a.library_id = l.id)';

/** Folders, last scan and granted accounts of the given libraries. */
const FACTS = {
  name: 'libraries-facts',
  text: `select l.id, ${posterSql('$3')} as poster, ${FOLDERS} as folders, ${SCAN} as scan, case when $2 then ${ACCOUNTS} end as accounts
    from unnest($1::uuid[]) as l(id)`,
};

/** A visible library as in the API, in one read. Throws NOT_FOUND. */
export async function readLibrary(call: Call, id: string): Promise<Library> {
  const { db, who } = call;
  const manages = may(who, 'library:manage');
  const [row] = await remembered<{ found: LibraryFacts & { row: LibraryRow } }>(db, {
    short: true,
    key: JSON.stringify(['library', id, who.sees, manages]),
    build: () =>
      db
        .from('libraries as l')
        .modify(onlyVisibleLibraries, who, 'l.id')
        .where('l.id', id)
        .select(
          db.raw(`json_build_object('row', to_json(l), 'poster', ${posterSql(String(!limitsItems(who.sees)))}, 'folders', ${FOLDERS}, 'scan', ${SCAN},
            'accounts', ${manages ? ACCOUNTS : 'null'}) as found`),
        ),
  });
  if (!row) throw notFound();
  const { found } = row;
  const times = { created_at: new Date(found.row.created_at), updated_at: new Date(found.row.updated_at) };
  const [library] = await withVisibleCounts(call, [toLibrary(call, { ...found.row, ...times }, partsOf(found))]);
  return library as Library;
}

function partsOf({ poster, folders, scan, accounts }: Omit<LibraryFacts, 'id'>): LibraryParts {
  return { poster, folders: folders ?? [], scan: scan ?? undefined, accountIds: accounts ?? [] };
}

/** The given rows as in the API, in one query. */
export async function toLibraries(call: Call, rows: readonly LibraryRow[]): Promise<Library[]> {
  const values = [rows.map((row) => row.id), may(call.who, 'library:manage'), !limitsItems(call.who.sees)];
  const facts = new Map(
    (await named<LibraryFacts>(call.db, { ...FACTS, values, short: true })).map((one) => [one.id, one]),
  );
  const libraries = rows.map((row) => {
    return toLibrary(
      call,
      row,
      partsOf(facts.get(row.id) ?? { poster: null, folders: null, scan: null, accounts: null }),
    );
  });
  return withVisibleCounts(call, libraries);
}

interface VisibleSum {
  library_id: string;
  type: string;
  n: number;
  size: number;
  duration: number;
  missing: number;
}

/** Replaces the library's counts by counts of visible items when label rules hide some items. */
async function withVisibleCounts({ db, who }: Call, libraries: Library[]): Promise<Library[]> {
  if (!who.sees.labels) return libraries;
  const rows: VisibleSum[] = await db('items as i')
    .whereIn(
      'i.library_id',
      libraries.map(({ id }) => id),
    )
    .whereNull('i.extra_of')
    .modify(onlyVisibleItems, who, 'i')
    .groupByRaw('i.library_id, coalesce(i.own_type, i.type)')
    .select('i.library_id', db.raw('coalesce(i.own_type, i.type) as type'))
    .select(
      db.raw(`count(*)::int as n, coalesce(sum(i.size_bytes), 0)::bigint as size,
        coalesce(sum(i.runtime_ms), 0)::bigint as duration,
        count(*) filter (where i.availability = 'missing' and i.type <> all(${containersSql}))::int as missing`),
    );
  const byLibrary = Map.groupBy(rows, (row) => row.library_id);
  const inFolders: { folder_id: string; n: number }[] = await db('media_files as f')
    .join('items as i', 'i.id', 'f.item_id')
    .whereIn(
      'f.folder_id',
      libraries.flatMap(({ folders }) => folders.map(({ id }) => id)),
    )
    .modify(onlyVisibleItems, who, 'i')
    .groupBy('f.folder_id')
    .select('f.folder_id', db.raw('count(distinct i.id)::int as n'));
  const counts = new Map(inFolders.map(({ folder_id, n }) => [folder_id, n]));
  return libraries.map((library) => ({
    ...library,
    ...sumsOf(byLibrary.get(library.id) ?? []),
    folders: library.folders.map((folder) => ({ ...folder, itemCount: counts.get(folder.id) ?? 0 })),
    lastScan: library.lastScan && { ...library.lastScan, added: 0, updated: 0, missing: 0 }, // these counts include hidden items
  }));
}

function sumsOf(rows: readonly VisibleSum[]) {
  const sum = (of: 'size' | 'duration' | 'missing'): number => rows.reduce((total, row) => total + row[of], 0);
  return {
    itemCounts: Object.fromEntries(rows.map(({ type, n }) => [type, n])),
    sizeBytes: sum('size'),
    durationMs: sum('duration'),
    missingCount: sum('missing'),
  };
}

export async function toOneLibrary(call: Call, row: LibraryRow): Promise<Library> {
  const [library] = await toLibraries(call, [row]);
  if (!library) throw new Error('no library for this row');
  return library;
}

interface LibraryParts {
  poster: Library['poster'];
  folders: FolderFacts[];
  scan: ScanFacts | undefined;
  accountIds: string[];
}

function toLibrary(call: Call, row: LibraryRow, parts: LibraryParts): Library {
  const { deps, who } = call;
  const manages = may(who, 'library:manage');
  const language = deps.settings.get('metadata.language') ?? deps.settings.get('server.language');
  const folders = parts.folders.map((folder) =>
    toFolder(folder, { path: manages || folder.added_by === who.accountId }),
  );
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    ...(row.own_type ? { baseType: row.own_type.base } : {}),
    icon: row.icon,
    order: row.position,
    poster: parts.poster,
    settings: settingsOf(row, { language, country: deps.settings.get('server.country') }),
    folders,
    state: stateOf(folders, parts.scan),
    itemCounts: shownCounts(row),
    sizeBytes: row.size_bytes,
    durationMs: row.duration_ms,
    missingCount: row.missing_count,
    lastScan: toLastScan(parts.scan),
    may: mayHere(row, call),
    ...(manages ? forManagers(row, parts.accountIds) : {}),
    managedBy: row.managed_by,
    revision: row.revision,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

/** Counts by the types that are shown; a level may hold several stored ones. */
function shownCounts(row: LibraryRow): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [type, n] of Object.entries(row.item_counts)) {
    const shown = shownType(row, type);
    counts[shown] = (counts[shown] ?? 0) + n;
  }
  return counts;
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
    upload: baseOf(row) === 'photos' && may(who, 'photo:upload'),
    edit: may(who, 'item:edit'),
    scan: may(who, 'scan:trigger'),
    manage: may(who, 'library:manage'),
  };
}

function stateOfFolder({ state, enabled, unavailable }: FolderFacts): LibraryFolder['state'] {
  if (!enabled) return 'disabled';
  if (state === 'available' || state === 'degraded') return unavailable ? 'unavailable' : 'available';
  return state === 'connecting' ? 'unavailable' : state;
}

function toFolder(folder: FolderFacts, show: { path: boolean }): LibraryFolder {
  return {
    id: folder.id,
    storageId: folder.storage_id,
    storageName: folder.storage_name,
    state: stateOfFolder(folder),
    itemCount: folder.item_count,
    addedBy: folder.added_by,
    addedAt: iso(new Date(folder.added_at)),
    ...(show.path ? { path: folder.path } : {}),
  };
}

function stateOf(folders: readonly LibraryFolder[], scan: ScanFacts | undefined): Library['state'] {
  if (folders.length === 0) return 'empty';
  const unavailable = folders.filter((folder) => folder.state !== 'available').length;
  if (unavailable === folders.length) return 'unavailable';
  if (scan && ['queued', 'running'].includes(scan.state)) return 'scanning';
  return unavailable > 0 ? 'partly-unavailable' : 'ready';
}

function toLastScan(scan: ScanFacts | undefined): Library['lastScan'] {
  if (!scan) return null;
  const { added = 0, updated = 0, missing = 0 } = scan.counts;
  return {
    id: scan.id,
    state: scan.state,
    finishedAt: scan.finished_at && iso(new Date(scan.finished_at)),
    added,
    updated,
    missing,
  };
}
