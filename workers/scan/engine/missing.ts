import type { Db } from '#platform/db.ts';
import { rowsOf, type ScannedFolder } from '../store/context.ts';
import { addToLibrary, measure, nextChange, rollUpItems, withParents } from '../store/rollup.ts';
import { fence } from './lease.ts';
import { tellScanners } from './notice.ts';
import type { FolderState, Scan } from './scan.ts';
import { tell } from './tell.ts';

const BATCH = 1000;
const SAMPLE = 20;

/** The question that a scan asks before it takes many files for lost. */
export interface Guard {
  decision: 'pending' | 'apply' | 'keep';
  wouldMiss: number;
  ofTotal: number;
  percent: number;
  folderIds: string[];
  /** How many of each folder. */
  losses: Record<string, number>;
  /** Ids of some of the items. */
  sampleIds: string[];
  decidedBy?: string;
  decidedAt?: string;
  /** A later scan asks for more. */
  supersededBy?: string;
  /** What was decided has been done. */
  done?: true;
}

interface Loss {
  absent: number;
  total: number;
}

/** After a trusted listing of a whole folder: marks what it lacked as missing, unless that is too much to believe. */
export async function decideMissing(
  scan: Scan,
  folder: ScannedFolder,
): Promise<Pick<FolderState, 'state' | 'reason' | 'missing'>> {
  const { db } = scan.work;
  const loss = await lossOf(db, folder.id);
  const asked = await openGuard(db, scan.library.id, folder.id);
  const applies = asked?.guard.decision === 'apply';
  if (loss.absent > 0 && !applies && isTooMuch(scan, loss)) {
    if (!asked || (asked.guard.losses[folder.id] ?? 0) < loss.absent)
      await ask(scan, folder, { loss, before: asked?.id });
    return { state: 'held', reason: 'guard', missing: 0 };
  }
  await close(db, asked);
  if (loss.absent > 0) await markMissing(scan, folder.id);
  return { state: 'listed', missing: await missedBy(scan, folder.id, loss) };
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

function isTooMuch({ library }: Scan, { absent, total }: Loss): boolean {
  const { guardMinimum, guardPercent } = library.settings;
  return absent >= guardMinimum && absent * 100 >= guardPercent * total;
}

interface Asked {
  id: string;
  guard: Guard;
}

/** The question about this folder that nobody answered yet, or whose answer was not carried out. */
async function openGuard(db: Db, libraryId: string, folderId: string): Promise<Asked | undefined> {
  const [row] = await rowsOf<Asked>(
    db,
    `select id, guard from scans where library_id = ? and guard ->> 'decision' in ('pending', 'apply') and guard ->> 'supersededBy' is null
       and guard ->> 'done' is null and guard -> 'folderIds' @> jsonb_build_array(?::text) order by queued_at desc limit 1`,
    [libraryId, folderId],
  );
  return row;
}

/** What was decided is done; a question that nobody answered is taken back, since files returned. */
async function close(db: Db, asked: Asked | undefined): Promise<void> {
  if (asked?.guard.decision === 'apply') await settle(db, asked.id);
  else if (asked) await db('scans').where({ id: asked.id }).update({ guard: null });
}

async function settle(db: Db, scanId: string): Promise<void> {
  await db.raw(`update scans set guard = guard || '{"done": true}' where id = ?`, [scanId]);
}

async function ask(
  scan: Scan,
  folder: ScannedFolder,
  { loss, before }: { loss: Loss; before: string | undefined },
): Promise<void> {
  const { db } = scan.work;
  const sample = await rowsOf<{ item_id: string }>(
    db,
    'select distinct item_id from media_files where folder_id = ? and absent_scan is not null and missing_since is null and not absence_kept limit ?',
    [folder.id, SAMPLE],
  );
  await db.transaction(async (transaction) => {
    const row = await transaction('scans').where({ id: scan.row.id }).first<{ guard: Guard | null }>('guard');
    const guard = joined(row?.guard ?? undefined, { folder, loss, sampleIds: sample.map((one) => one.item_id) });
    await transaction('scans')
      .where({ id: scan.row.id })
      .update({ guard: JSON.stringify(guard) });
    if (before === undefined) await tellScanners(transaction, 'scan-guard', scan.library.id);
    if (before === undefined || before === scan.row.id) return;
    await transaction.raw(
      `update scans set guard = guard || jsonb_build_object('supersededBy', ?::text) where id = ?`,
      [scan.row.id, before],
    );
  });
  scan.work.log.warn(
    { scan: scan.row.id, folder: folder.id, ...loss },
    'a scan would lose many files and waits for a decision',
  );
}

interface News {
  folder: ScannedFolder;
  loss: Loss;
  sampleIds: string[];
}

/** One question for all folders of a scan. */
function joined(before: Guard | undefined, { folder, loss, sampleIds }: News): Guard {
  const wouldMiss = (before?.wouldMiss ?? 0) + loss.absent;
  const ofTotal = (before?.ofTotal ?? 0) + loss.total;
  return {
    decision: 'pending',
    wouldMiss,
    ofTotal,
    percent: Math.round((wouldMiss * 100) / Math.max(1, ofTotal)),
    folderIds: [...new Set([...(before?.folderIds ?? []), folder.id])],
    losses: { ...before?.losses, [folder.id]: loss.absent },
    sampleIds: [...(before?.sampleIds ?? []), ...sampleIds].slice(0, SAMPLE),
  };
}

/** In batches of 1,000 files; grace counts from now. */
async function markMissing(scan: Scan, folderId: string): Promise<void> {
  for (let more = true; more; ) {
    scan.signal.throwIfAborted();
    const rows = await scan.work.db.transaction((db) => markSome(scan, db, folderId));
    scan.counts.missing += rows;
    more = rows === BATCH;
  }
}

/** Also what a worker that was lost had marked before. */
async function missedBy({ row, work }: Scan, folderId: string, loss: Loss): Promise<number> {
  if (row.resumes === 0) return loss.absent;
  const [found] = await rowsOf<{ n: number }>(
    work.db,
    'select count(*)::int as n from media_files where folder_id = ? and missing_since >= ?',
    [folderId, row.started_at],
  );
  return found?.n ?? 0;
}

async function markSome(scan: Scan, db: Db, folderId: string): Promise<number> {
  await fence(db, { scanId: scan.row.id, token: scan.token, counts: scan.counts });
  const files = await rowsOf<{ id: string; item_id: string }>(
    db,
    `select id, item_id from media_files where folder_id = ? and absent_scan is not null and missing_since is null and not absence_kept order by id limit ${BATCH}`,
    [folderId],
  );
  if (files.length === 0) return 0;
  const items = [...new Set(files.map((file) => file.item_id))];
  const all = await withParents(db, items);
  const before = await measure(db, all);
  const seq = await nextChange(db, scan.library.id);
  await rowsOf(
    db,
    'update media_files set missing_since = now(), absent_scan = null, updated_at = now() where id = any(?::uuid[])',
    [files.map((file) => file.id)],
  );
  const { changed } = await rollUpItems({ db, seq }, items);
  await addToLibrary(db, scan.library.id, { before, after: await measure(db, all) });
  await tell(scan, db, { name: 'item.updated', ids: changed, changed: ['availability'] });
  const counts = { ...scan.counts, missing: scan.counts.missing + files.length };
  await fence(db, { scanId: scan.row.id, token: scan.token, counts }); // for who goes on after a kill
  return files.length;
}

/** Items whose grace is over go to the trash. Only of folders that were listed just now, so their storage was there. */
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
    `select i.id from items i where i.library_id = ? and i.availability = 'missing' and i.trashed_at is null and i.type not in ('show', 'season')
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
  await rollUpItems({ db, seq }, ids);
  await addToLibrary(db, scan.library.id, { before, after: await measure(db, all) });
  await db.raw(
    'update libraries set trash_count = (select count(*) from items where library_id = ? and trashed_at is not null) where id = ?',
    [scan.library.id, scan.library.id],
  );
  await tell(scan, db, { name: 'item.deleted', ids });
  return rows.length;
}
