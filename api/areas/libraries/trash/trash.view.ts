import { type ItemSummary, trashedSummaries } from '#areas/items/public.ts';
import { onlyUnhidden } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { iso } from '#kernel/schemas.ts';
import type { LibraryRow } from '../libraries.store.ts';
import { settingsOf } from '../settings.ts';
import { type TrashEntry, trashSorts } from './trash.schemas.ts';
import {
  filesOfEntries,
  selectTrash,
  type TrashFile,
  type TrashRow,
  trashEntries,
  trashTotals,
} from './trash.store.ts';

const DAY_MS = 86_400_000;

interface TrashPageQuery {
  cursor?: string | undefined;
  limit: number;
  sort?: string | undefined;
  reason?: string | undefined;
  q?: string | undefined;
}

export async function trashPage(
  call: Call,
  library: LibraryRow,
  { cursor, limit, sort, ...filter }: TrashPageQuery,
): Promise<{ items: TrashEntry[]; page: Page; totals: Awaited<ReturnType<typeof trashTotals>> }> {
  const { db, who, deps } = call;
  const entries = trashEntries(db, { libraryId: library.id, ...filter }).modify(onlyUnhidden, who, 'i');
  const found = await pageOf<TrashRow, TrashRow>(db, selectTrash(db, entries), {
    keys: deps.keys,
    terms: parseSort(sort, trashSorts, 'trashedAt'),
    cursor,
    limit,
    scope: JSON.stringify(['listTrash', library.id, filter]),
    idColumn: 'i.id',
    toItem: (row) => row,
  });
  const items = await toEntries(call, library, found.items);
  return { items, page: found.page, totals: await trashTotals(db, who, library.id) };
}

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

interface EntryParts {
  item: ItemSummary;
  files: TrashFile[];
  keepDays: number;
}

function toEntry(row: TrashRow, { item, files, keepDays }: EntryParts): TrashEntry {
  const unavailable = files.some((file) => file.unavailable);
  const isKept = unavailable || keepDays === 0;
  return {
    item,
    reason: row.trash_reason,
    trashedAt: iso(row.trashed_at),
    trashedBy: row.trashed_by,
    purgeAt: isKept ? null : iso(new Date(row.trashed_at.getTime() + keepDays * DAY_MS)),
    childCount: row.child_count,
    files: files.map((file) => ({
      fileId: file.id,
      sizeBytes: file.size_bytes,
      present: file.unavailable ? null : !file.missing || file.in_trash,
    })),
    filesInTrash: files.some((file) => file.in_trash),
    restorable: files.length > 0 && !unavailable,
  };
}
