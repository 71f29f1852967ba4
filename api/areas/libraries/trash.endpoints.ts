import { type ItemSummary, trashedSummaries } from '#areas/items/public.ts';
import { ageSql, onlyUnhidden } from '#identity/visibility.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams, iso } from '#kernel/schemas.ts';
import { emitMany } from '#platform/outbox.ts';
import { getLibraryRow, type LibraryRow } from './libraries.store.ts';
import { settingsOf } from './settings.ts';
import {
  EmptiedTrash,
  EmptyTrashQuery,
  Purged,
  RestoredTrash,
  RestoreTrash,
  TrashEntry,
  TrashedItemParams,
  TrashQuery,
  TrashTotals,
  trashSorts,
} from './trash.schemas.ts';
import {
  filesOfEntries,
  purgeEntries,
  restorability,
  restoreEntries,
  selectTrash,
  type TrashFile,
  type TrashRow,
  trashEntries,
  trashTotals,
} from './trash.store.ts';

const AT_ONCE = 1000;
const DAY_MS = 86_400_000;

export const listTrash = defineEndpoint({
  operationId: 'listTrash',
  method: 'get',
  path: '/libraries/:id/trash',
  summary: 'List the trash',
  access: { permission: 'library:manage' },
  params: IdParams,
  query: TrashQuery,
  answer: page(TrashEntry, { totals: TrashTotals }),

  async handle({ params, query }, call) {
    const { db, who, deps } = call;
    const library = await getLibraryRow(db, who, params.id);
    const { cursor, limit, sort, ...filter } = query;
    const found = await pageOf<TrashRow, TrashRow>(
      db,
      selectTrash(db, trashEntries(db, { libraryId: library.id, ...filter }).modify(onlyUnhidden, who, 'i')),
      {
        keys: deps.keys,
        terms: parseSort(sort, trashSorts, 'trashedAt'),
        cursor,
        limit,
        scope: JSON.stringify(['listTrash', library.id, filter]),
        idColumn: 'i.id',
        toItem: (row) => row,
      },
    );
    const items = await toEntries(call, library, found.items);
    return { items, page: found.page, totals: await trashTotals(db, who, library.id) };
  },
});

async function toEntries(call: Call, library: LibraryRow, rows: readonly TrashRow[]): Promise<TrashEntry[]> {
  const ids = rows.map((row) => row.id);
  const summaries = await trashedSummaries(call.db, call.who, ids);
  const files = await filesOfEntries(call.db, ids);
  const keepDays = settingsOf(library, { language: 'en', country: null }).trashKeepDays;
  return rows.flatMap((row) => {
    const item = summaries.get(row.id);
    const own = files.filter((file) => file.entry_id === row.id);
    return item ? [toEntry(row, { item, files: own, keepDays })] : [];
  });
}

interface Beside {
  item: ItemSummary;
  files: TrashFile[];
  keepDays: number;
}

function toEntry(row: TrashRow, { item, files, keepDays }: Beside): TrashEntry {
  const away = files.some((file) => file.away);
  const stands = away || keepDays === 0;
  return {
    item,
    reason: row.trash_reason,
    trashedAt: iso(row.trashed_at),
    trashedBy: row.trashed_by,
    purgeAt: stands ? null : iso(new Date(row.trashed_at.getTime() + keepDays * DAY_MS)),
    childCount: row.child_count,
    files: files.map((file) => ({
      fileId: file.id,
      sizeBytes: file.size_bytes,
      present: file.away ? null : !file.missing,
    })),
    filesInTrash: false, // only a deletion with files moves them there (area Editing)
    restorable: files.length > 0 && !away,
  };
}

export const emptyTrash = defineEndpoint({
  operationId: 'emptyTrash',
  method: 'delete',
  path: '/libraries/:id/trash',
  summary: 'Empty the trash',
  access: { permission: 'library:manage' },
  params: IdParams,
  query: EmptyTrashQuery,
  answer: json(200, EmptiedTrash),

  async handle({ params, query }, call) {
    const { db, who, now, enqueue } = call;
    const library = await getLibraryRow(db, who, params.id);
    const before = query.before ? new Date(query.before) : now;
    const filter = { libraryId: library.id, reason: query.reason, before };
    const entries = await selectTrash(db, trashEntries(db, filter))
      .orderBy('i.trashed_at')
      .limit(AT_ONCE + 1);
    const ids = (entries as TrashRow[]).slice(0, AT_ONCE).map((row) => row.id);
    const away = new Set((await filesOfEntries(db, ids)).filter((file) => file.away).map((file) => file.entry_id));
    const purged = await purgeEntries(
      db,
      library.id,
      ids.filter((id) => !away.has(id)),
    );
    const rest = {
      libraryId: library.id,
      before: before.toISOString(),
      ...(query.reason ? { reason: query.reason } : {}),
    };
    const jobId =
      entries.length > AT_ONCE ? await enqueue('library.purge', rest, { libraryId: library.id }) : undefined;
    const skipped = [...away].slice(0, 200).map((itemId) => ({ itemId, reason: 'storage-unavailable' as const }));
    return { purged, filesDeleted: 0, bytesFreed: 0, skipped, ...(jobId ? { jobId } : {}) };
  },
});

export const purgeTrashedItem = defineEndpoint({
  operationId: 'purgeTrashedItem',
  method: 'delete',
  path: '/libraries/:id/trash/:itemId',
  summary: 'Purge one trashed item and what is below it',
  access: { permission: 'library:manage' },
  params: TrashedItemParams,
  answer: json(200, Purged),
  errors: ['STORAGE_UNAVAILABLE'],

  async handle({ params }, { db, who }) {
    const library = await getLibraryRow(db, who, params.id);
    const found = await restorability(db, library.id, [params.itemId]);
    const entry = found.get(params.itemId);
    if (!entry) throw notFound();
    if (entry.away) throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is away', {});
    return { purged: await purgeEntries(db, library.id, [params.itemId]), filesDeleted: 0, bytesFreed: 0 };
  },
});

export const restoreTrash = defineEndpoint({
  operationId: 'restoreTrash',
  method: 'post',
  path: '/libraries/:id/trash/restore',
  summary: 'Restore trashed items',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: RestoreTrash,
  answer: json(200, RestoredTrash),
  emits: ['item.added'],

  async handle({ params, body }, { db, who }) {
    const library = await getLibraryRow(db, who, params.id);
    const asked = body.itemIds ?? (await allEntries(db, { libraryId: library.id, reason: body.reason }));
    const known = await restorability(db, library.id, asked);
    const refused = asked.flatMap((itemId) => {
      const reason = against(known.get(itemId));
      return reason ? [{ itemId, reason }] : [];
    });
    const ids = asked.filter((id) => !refused.some((one) => one.itemId === id));
    const restored = await restoreEntries(db, library.id, ids);
    await tellRestored(db, library.id, restored);
    const missing = ids.filter((id) => known.get(id)?.missing).length;
    return { restored: ids.length - missing, missing, notRestored: refused };
  },
});

async function tellRestored(db: Call['db'], libraryId: string, ids: readonly string[]): Promise<void> {
  const rows = await db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select<{ id: string; age_years: number | null; labels: number[] }[]>(
      ...(['id', 'labels'] as const),
      db.raw(`${ageSql('items')} as age_years`),
    );
  const events = rows.map(({ id: itemId, age_years, labels }) => ({
    payload: { itemId, libraryId },
    facts: { itemId, libraryId, labels, ...(age_years !== null && { ageYears: age_years }) },
  }));
  await emitMany(db, 'item.added', events);
}

async function allEntries(
  db: Call['db'],
  filter: { libraryId: string; reason: string | undefined },
): Promise<string[]> {
  const rows = (await selectTrash(db, trashEntries(db, filter))) as TrashRow[];
  return rows.map((row) => row.id);
}

function against(
  entry: { away: boolean; folder_gone: boolean } | undefined,
): 'not-in-trash' | 'storage-unavailable' | 'folder-gone' | undefined {
  if (!entry) return 'not-in-trash';
  if (entry.folder_gone) return 'folder-gone';
  return entry.away ? 'storage-unavailable' : undefined;
}
