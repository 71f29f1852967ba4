import type { GuardRow } from '#areas/scanning/scans.store.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { ScannedFolder } from '../store/context.ts';
import { notifyScanners } from './notice.ts';
import type { Scan } from './scan.ts';

const SAMPLE = 20;

/** The files that a folder would lose. */
export interface Loss {
  absent: number;
  total: number;
}

/** Includes ids of some of the affected items. */
interface SampledLoss extends Loss {
  sampleIds: string[];
}

/**
 * The confirmation that a scan requests before it marks many files as missing: one request and one decision for all
 * folders, applied in each folder by itself.
 */
export interface Guard extends GuardRow {
  /** By folder. */
  losses: Record<string, SampledLoss>;
  /** Folders where the decision was applied. */
  applied?: string[];
}

export interface GuardRequest {
  id: string;
  guard: Guard;
}

/** The request about this folder that is still pending, or whose decision was not applied in it. */
export async function openGuard(db: Db, libraryId: string, folderId: string): Promise<GuardRequest | undefined> {
  const [row] = await rowsOf<GuardRequest>(
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

/** The part of the loss that no one has confirmed. */
export function undecided(previous: GuardRequest | undefined, folderId: string, { absent, total }: Loss): Loss {
  const agreed = previous?.guard.decision === 'apply' ? (previous.guard.losses[folderId]?.absent ?? 0) : 0;
  return { absent: absent - agreed, total };
}

/** Marks the decision as applied in this folder; withdraws a pending request for it, because files returned. */
export async function close(db: Db, folderId: string, previous: GuardRequest | undefined): Promise<void> {
  if (!previous) return;
  await db.transaction(async (transaction) => {
    const guard = await locked(transaction, previous.id);
    if (guard?.decision === 'apply') await save(transaction, previous.id, settled(guard, folderId));
    if (guard?.decision === 'pending') await save(transaction, previous.id, withdrawn(guard, folderId));
  });
}

function settled(guard: Guard, folderId: string): Guard {
  return { ...guard, applied: [...(guard.applied ?? []), folderId] };
}

function withdrawn(guard: Guard, folderId: string): Guard | null {
  const { [folderId]: _, ...others } = guard.losses;
  return Object.keys(others).length === 0 ? null : questionOf(others);
}

/**
 * Requests a confirmation for a folder unless the same one is pending. A pending request is taken over by this scan,
 * with its other folders.
 */
export async function requestConfirmation(
  scan: Scan,
  folder: ScannedFolder,
  { loss, previous }: { loss: Loss; previous: GuardRequest | undefined },
): Promise<void> {
  const { db, log } = scan.work;
  if (previous?.guard.decision === 'pending' && (previous.guard.losses[folder.id]?.absent ?? 0) >= loss.absent) return;
  const sampleIds = await sampleOf(db, folder.id);
  await db.transaction(async (transaction) => {
    const open = await leave(transaction, previous, { scanId: scan.row.id, folderId: folder.id });
    if (open === 'decided') return; // the next scan applies the decision
    const own = await locked(transaction, scan.row.id);
    const losses = { ...own?.losses, ...open, [folder.id]: { ...loss, sampleIds } };
    await save(transaction, scan.row.id, questionOf(losses));
    if (previous?.guard.decision !== 'pending') await notifyScanners(transaction, 'scan-guard', scan.library.id);
  });
  log.warn({ scan: scan.row.id, folder: folder.id, ...loss }, 'a scan would lose many files and waits for a decision');
}

/** Ends the previous request, for this folder or, while pending, for all; returns its losses. */
async function leave(
  db: Db,
  previous: GuardRequest | undefined,
  { scanId, folderId }: { scanId: string; folderId: string },
): Promise<Guard['losses'] | 'decided'> {
  const guard = previous && (await locked(db, previous.id));
  if (guard?.decision !== previous?.guard.decision) return 'decided';
  if (!previous || !guard) return {};
  const applies = guard.decision === 'apply';
  await save(db, previous.id, applies ? settled(guard, folderId) : { ...guard, supersededBy: scanId });
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

/** Locks the request, so that decisions and requests run one after another. */
async function locked(db: Db, scanId: string): Promise<Guard | undefined> {
  const row = await db('scans').where({ id: scanId }).forUpdate().first<{ guard: Guard | null } | undefined>('guard');
  return row?.guard ?? undefined;
}

async function save(db: Db, scanId: string, guard: Guard | null): Promise<void> {
  await db('scans')
    .where({ id: scanId })
    .update({ guard: guard && JSON.stringify(guard) });
}
