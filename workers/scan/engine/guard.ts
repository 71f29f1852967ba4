import type { GuardRow } from '#areas/scanning/scans.store.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf, type ScannedFolder } from '../store/context.ts';
import { notifyScanners } from './notice.ts';
import type { Scan } from './scan.ts';

const SAMPLE = 20;

/** What a folder would lose. */
export interface Loss {
  absent: number;
  total: number;
}

/** Ids of some of the items are with it. */
interface AskedLoss extends Loss {
  sampleIds: string[];
}

/** The question that a scan asks before it takes many files for lost: one for all folders, answered for all, carried out in each by itself. */
export interface Guard extends GuardRow {
  /** By folder. */
  losses: Record<string, AskedLoss>;
  /** Folders where the decision was carried out. */
  applied?: string[];
}

export interface Asked {
  id: string;
  guard: Guard;
}

/** The question about this folder that nobody answered yet, or whose answer was not carried out in it. */
export async function openGuard(db: Db, libraryId: string, folderId: string): Promise<Asked | undefined> {
  const [row] = await rowsOf<Asked>(
    db,
    `select id, guard from scans where library_id = ? and guard ->> 'decision' in ('pending', 'apply') and guard ->> 'supersededBy' is null
       and guard -> 'folderIds' @> jsonb_build_array(?::text) and not coalesce(guard -> 'applied' @> jsonb_build_array(?::text), false)
     order by queued_at desc limit 1`,
    [libraryId, folderId, folderId],
  );
  return row;
}

export function isTooMuch({ library }: Scan, { absent, total }: Loss): boolean {
  const { guardMinimum, guardPercent } = library.settings;
  return absent >= guardMinimum && absent * 100 >= guardPercent * total;
}

/** How much of the loss nobody agreed to. */
export function undecided(asked: Asked | undefined, folderId: string, { absent, total }: Loss): Loss {
  const agreed = asked?.guard.decision === 'apply' ? (asked.guard.losses[folderId]?.absent ?? 0) : 0;
  return { absent: absent - agreed, total };
}

/** What was decided is done in this folder; a question that nobody answered is taken back for it, since files returned. */
export async function close(db: Db, folderId: string, asked: Asked | undefined): Promise<void> {
  if (!asked) return;
  await db.transaction(async (transaction) => {
    const guard = await locked(transaction, asked.id);
    if (guard?.decision === 'apply') await save(transaction, asked.id, settled(guard, folderId));
    if (guard?.decision === 'pending') await save(transaction, asked.id, withdrawn(guard, folderId));
  });
}

function settled(guard: Guard, folderId: string): Guard {
  return { ...guard, applied: [...(guard.applied ?? []), folderId] };
}

function withdrawn(guard: Guard, folderId: string): Guard | null {
  const { [folderId]: _, ...others } = guard.losses;
  return Object.keys(others).length === 0 ? null : questionOf(others);
}

/** Asks about a folder unless the same was asked already. A question that nobody answered goes over to this scan, with its other folders. */
export async function ask(
  scan: Scan,
  folder: ScannedFolder,
  { loss, asked }: { loss: Loss; asked: Asked | undefined },
): Promise<void> {
  const { db, log } = scan.work;
  if (asked?.guard.decision === 'pending' && (asked.guard.losses[folder.id]?.absent ?? 0) >= loss.absent) return;
  const sampleIds = await sampleOf(db, folder.id);
  await db.transaction(async (transaction) => {
    const open = await leave(transaction, asked, { scanId: scan.row.id, folderId: folder.id });
    if (open === 'decided') return; // the scan that follows goes by it
    const own = await locked(transaction, scan.row.id);
    const losses = { ...own?.losses, ...open, [folder.id]: { ...loss, sampleIds } };
    await save(transaction, scan.row.id, questionOf(losses));
    if (asked?.guard.decision !== 'pending') await notifyScanners(transaction, 'scan-guard', scan.library.id);
  });
  log.warn({ scan: scan.row.id, folder: folder.id, ...loss }, 'a scan would lose many files and waits for a decision');
}

/** Ends the question before, for this folder or, where it was still open, for all; gives what it asked about then. */
async function leave(
  db: Db,
  asked: Asked | undefined,
  { scanId, folderId }: { scanId: string; folderId: string },
): Promise<Guard['losses'] | 'decided'> {
  const guard = asked && (await locked(db, asked.id));
  if (guard?.decision !== asked?.guard.decision) return 'decided';
  if (!asked || !guard) return {};
  const applies = guard.decision === 'apply';
  await save(db, asked.id, applies ? settled(guard, folderId) : { ...guard, supersededBy: scanId });
  return applies ? {} : guard.losses;
}

async function sampleOf(db: Db, folderId: string): Promise<string[]> {
  const rows = await rowsOf<{ item_id: string }>(
    db,
    'select distinct item_id from media_files where folder_id = ? and absent_scan is not null and missing_since is null and not absence_kept limit ?',
    [folderId, SAMPLE],
  );
  return rows.map((row) => row.item_id);
}

function questionOf(losses: Guard['losses']): Guard {
  const all = Object.values(losses);
  const wouldMiss = all.reduce((sum, loss) => sum + loss.absent, 0);
  const ofTotal = all.reduce((sum, loss) => sum + loss.total, 0);
  return {
    decision: 'pending',
    wouldMiss,
    ofTotal,
    percent: Math.round((wouldMiss * 100) / Math.max(1, ofTotal)),
    folderIds: Object.keys(losses),
    sampleIds: all.flatMap((loss) => loss.sampleIds).slice(0, SAMPLE),
    losses,
  };
}

/** Nobody decides or asks at the same time. */
async function locked(db: Db, scanId: string): Promise<Guard | undefined> {
  const row = await db('scans').where({ id: scanId }).forUpdate().first<{ guard: Guard | null } | undefined>('guard');
  return row?.guard ?? undefined;
}

async function save(db: Db, scanId: string, guard: Guard | null): Promise<void> {
  await db('scans')
    .where({ id: scanId })
    .update({ guard: guard && JSON.stringify(guard) });
}
