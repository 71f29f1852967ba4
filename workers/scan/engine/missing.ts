import {
  addToLibraries,
  lockLibraries,
  measure,
  nextChange,
  rollUpItems,
  withParents,
} from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import { rowsOf } from '#platform/rows.ts';
import type { ScannedFolder } from '../store/context.ts';
import { doubtRest, type Lost } from '../store/doubts.ts';
import { close, isTooMuch, type Loss, openGuard, requestConfirmation, undecided } from './guard.ts';
import { emitItems } from './item-events.ts';
import { fence } from './lease.ts';
import type { FolderState, Scan } from './scan.ts';

const BATCH = 1000;

/**
 * Marks absent files as missing after a trusted listing of a folder or of some directories, unless the loss is too
 * large to apply without confirmation.
 */
export async function decideMissing(
  scan: Scan,
  folder: ScannedFolder,
  from: readonly string[],
): Promise<Pick<FolderState, 'state' | 'reason' | 'missing'>> {
  const { db } = scan.work;
  const whole = from.includes(folder.path);
  const loss = await lossOf(db, folder.id);
  const previous = await openGuard(db, scan.library.id, folder.id);
  if (loss.absent > 0 && isTooMuch(scan, undecided(previous, folder.id, loss))) {
    await requestConfirmation(scan, folder, { loss, previous });
    return { state: 'held', reason: 'guard', missing: 0 };
  }
  if (whole || previous?.guard.decision === 'pending') await close(db, folder.id, previous);
  const marked = loss.absent > 0 ? await markMissing(scan, folder.id, whole ? [''] : from) : 0;
  return { state: 'listed', missing: await missedBy(scan, folder.id, marked) };
}

async function lossOf(db: Db, folderId: string): Promise<Loss> {
  const [row] = await rowsOf<Loss>(
    db,
    `select count(*) filter (where absent_scan is not null and not absence_kept)::int as absent, count(*)::int as total
     from media_files where folder_id = ? and missing_since is null`,
    [folderId],
  );
  return row ?? { absent: 0, total: 0 };
}

/**
 * In batches of 1,000 files; grace starts now. Only below listed directories, because earlier listings of others may be
 * outdated.
 */
async function markMissing(scan: Scan, folderId: string, below: readonly string[]): Promise<number> {
  let marked = 0;
  for (let more = true; more; ) {
    scan.signal.throwIfAborted();
    const rows = await scan.work.db.transaction((db) => markSome(scan, db, { folderId, below }));
    scan.counts.missing += rows;
    marked += rows;
    more = rows === BATCH;
  }
  return marked;
}

/** Includes files that a lost worker already marked. */
async function missedBy({ row, work }: Scan, folderId: string, marked: number): Promise<number> {
  if (row.resumes === 0) return marked;
  const [found] = await rowsOf<{ n: number }>(
    work.db,
    'select count(*)::int as n from media_files where folder_id = ? and missing_since >= ?',
    [folderId, row.started_at],
  );
  return found?.n ?? 0;
}

async function markSome(
  scan: Scan,
  db: Db,
  { folderId, below }: { folderId: string; below: readonly string[] },
): Promise<number> {
  await lockLibraries(db, [scan.library.id]);
  await fence(db, { scanId: scan.row.id, token: scan.token, counts: scan.counts });
  const files = await rowsOf<Lost & { id: string }>(
    db,
    `select id, item_id, folder_id, directory from media_files f where folder_id = ? and absent_scan is not null and missing_since is null and not absence_kept
       and exists (select from unnest(?::text[]) as v(path) where v.path in ('', f.directory) or starts_with(f.directory, v.path || '/'))
     order by id limit ${BATCH}`,
    [folderId, below],
  );
  if (files.length === 0) return 0;
  const items = [...new Set(files.map((file) => file.item_id))];
  const all = await withParents(db, items);
  const before = await measure(db, all);
  await nextChange(db, scan.library.id);
  await rowsOf(
    db,
    'update media_files set missing_since = now(), absent_scan = null, updated_at = now() where id = any(?::uuid[])',
    [files.map((file) => file.id)],
  );
  const changed = await rollUpItems(db, items);
  scan.doubted.push(...(await doubtRest(db, files)));
  await addToLibraries(db, before, await measure(db, all));
  await emitItems(scan, db, { name: 'item.updated', ids: changed, changed: ['availability'] });
  const counts = { ...scan.counts, missing: scan.counts.missing + files.length };
  await fence(db, { scanId: scan.row.id, token: scan.token, counts }); // for the worker that resumes after a kill
  return files.length;
}

/**
 * Moves items whose grace is over to the trash. Only in folders that were just listed, so their storage was available.
 */
export async function trashOverdue(scan: Scan, folderIds: readonly string[]): Promise<void> {
  const { trashGraceHours } = scan.library.settings;
  for (let more = true; more && folderIds.length > 0; ) {
    scan.signal.throwIfAborted();
    const some = await scan.work.db.transaction((db) => trashSome(scan, db, { folderIds, hours: trashGraceHours }));
    more = some === BATCH;
  }
}

async function trashSome(
  scan: Scan,
  db: Db,
  { folderIds, hours }: { folderIds: readonly string[]; hours: number },
): Promise<number> {
  await fence(db, { scanId: scan.row.id, token: scan.token, counts: scan.counts });
  const rows = await rowsOf<{ id: string }>(
    db,
    `select i.id from items i where i.library_id = ? and i.availability = 'missing' and i.trashed_at is null and i.type <> all(${containersSql})
       and i.missing_since <= now() - make_interval(hours => ?)
       and not exists (select 1 from media_files f where f.item_id = i.id and f.folder_id <> all(?::uuid[])) limit ${BATCH}`,
    [scan.library.id, hours, folderIds],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  const all = await withParents(db, ids);
  const before = await measure(db, all);
  const seq = await nextChange(db, scan.library.id);
  await rowsOf(
    db,
    `update items set trashed_at = now(), trash_reason = 'missing', change_seq = ?, updated_at = now(), revision = revision + 1
     where id = any(?::uuid[]) or extra_of = any(?::uuid[])`,
    [seq, ids, ids],
  );
  await rollUpItems(db, ids);
  await addToLibraries(db, before, await measure(db, all));
  await db.raw(
    'update libraries set trash_count = (select count(*) from items where library_id = ? and trashed_at is not null) where id = ?',
    [scan.library.id, scan.library.id],
  );
  await emitItems(scan, db, { name: 'item.deleted', ids });
  return rows.length;
}
