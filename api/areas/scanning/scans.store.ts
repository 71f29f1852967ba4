import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { cancelUnstarted } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Scan } from './scanning.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'scans.trigger': Scan['trigger'];
    'scans.phase': Scan['phase'];
    'scans.counts': Partial<Scan['counts']>;
    'scans.folders': Scan['folders'];
    'scans.guard': GuardRow;
    'scans.targets': { folderId: string; path?: string }[];
    'scans.error': Scan['error'];
  }
}

/** The public part of `scans.guard`, which a worker writes. */
export interface GuardRow {
  decision: 'pending' | 'apply' | 'keep';
  wouldMiss: number;
  ofTotal: number;
  percent: number;
  folderIds: string[];
  /** Ids of sample items. */
  sampleIds: string[];
  decidedBy?: string;
  decidedAt?: string;
  /** A later scan that waits for a decision on more files. */
  supersededBy?: string;
}

export type ScanRow = Pick<Row<'scans'>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  'id',
  'library_id',
  'state',
  'mode',
  'trigger',
  'by_account_id',
  'job_id',
  'phase',
  'counts',
  'folders',
  'guard',
  'targets',
  'issue_count',
  'resumes',
  'error',
  'queued_at',
  'started_at',
  'finished_at',
] as const;

/** Start of every read: scans of libraries that `who` may see. */
function visibleScans(db: Db, who: Principal): Knex.QueryBuilder<object, ScanRow[]> {
  return db('scans as s')
    .select(COLUMNS.map((column) => `s.${column}`))
    .modify((query: Knex.QueryBuilder) => onlyVisibleLibraries(query, who, 's.library_id'));
}

export interface ScansFilter {
  libraryId?: string | undefined;
  state?: readonly string[] | undefined;
  trigger?: string | undefined;
  guard?: 'pending' | undefined;
}

export function selectScans(db: Db, who: Principal, { libraryId, state, trigger, guard }: ScansFilter) {
  const rows = visibleScans(db, who);
  if (libraryId) rows.where('s.library_id', libraryId);
  if (state) rows.whereIn('s.state', state);
  if (trigger) rows.where('s.trigger', trigger);
  if (guard) rows.whereRaw(`s.guard ->> 'decision' = 'pending' and s.guard ->> 'supersededBy' is null`);
  return rows;
}

/** The storages on which library folders lie. */
export async function storagesOf(db: Db, folderIds: readonly string[]): Promise<string[]> {
  const folders = await db('library_folders').whereIn('id', folderIds).select('storage_id');
  return folders.map((folder) => folder.storage_id);
}

export async function getScanRow(db: Db, who: Principal, id: string): Promise<ScanRow> {
  const row = await visibleScans(db, who).where('s.id', id).first();
  if (!row) throw notFound();
  return row;
}

/** Locks the row, so that no other request or worker changes it. */
export async function lockScanRow(db: Db, who: Principal, id: string): Promise<ScanRow> {
  await db('scans').where({ id }).forUpdate().select('id');
  return getScanRow(db, who, id);
}

export type IssueRow = Pick<Row<'scan_issues'>, 'kind' | 'folder_id' | 'path' | 'detail' | 'item_id' | 'at'>;

const MOST_ISSUES = 500;

export async function listIssues(db: Db, scanId: string): Promise<IssueRow[]> {
  return db('scan_issues')
    .where({ scan_id: scanId })
    .orderBy(['at', 'id'])
    .limit(MOST_ISSUES)
    .select('kind', 'folder_id', 'path', 'detail', 'item_id', 'at');
}

/** Duration and file count of the library's last complete scan. */
export async function findSpeed(db: Db, libraryId: string): Promise<{ found: number; durationMs: number } | undefined> {
  const row = await db('scans')
    .where({ library_id: libraryId, state: 'completed' })
    .whereNull('targets')
    .whereNotNull('started_at')
    .orderBy('queued_at', 'desc')
    .first<{ counts: { found?: number }; started_at: Date; finished_at: Date } | undefined>(
      'counts',
      'started_at',
      'finished_at',
    );
  return (
    row && {
      found: row.counts.found ?? 0,
      durationMs: Math.max(1, row.finished_at.getTime() - row.started_at.getTime()),
    }
  );
}

/** Ends a queued scan. A running scan gets a cancel request. */
export async function requestCancel(db: Db, row: ScanRow, now: Date): Promise<void> {
  if (row.state === 'running') {
    await db('scans').where({ id: row.id }).update({ cancel_requested: true });
    return;
  }
  await db('scans').where({ id: row.id }).update({ cancel_requested: true, state: 'cancelled', finished_at: now });
  await cancelUnstarted(db, row.job_id, now);
}

export async function saveGuard(db: Db, id: string, guard: GuardRow): Promise<void> {
  await db('scans')
    .where({ id })
    .update({ guard: JSON.stringify(guard) });
}

/** Keeps the absent files, so that later scans request no decision about them. */
export async function keepAbsent(db: Db, folderIds: readonly string[]): Promise<void> {
  await db('media_files')
    .whereIn('folder_id', folderIds)
    .whereNotNull('absent_scan')
    .whereNull('missing_since')
    .update({ absence_kept: true, absent_scan: null });
}

/** Removes pending guards whose folders no longer exist. */
export async function withdrawQuestions(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `update scans s set guard = null where s.library_id = ? and s.guard ->> 'decision' = 'pending'
       and not exists (select from jsonb_array_elements_text(s.guard -> 'folderIds') as held(id)
                       join library_folders f on f.id = held.id::uuid)`,
    [libraryId],
  );
}

/** The next scan reads the directories of these files again, whatever their times and contents. */
export async function readAgain(db: Db, fileIds: readonly string[]): Promise<void> {
  await db.raw(
    `update scan_directories d set content = '', modified_ms = -1, drafts = null from media_files f
     where f.id = any(?::uuid[]) and d.folder_id = f.folder_id and d.path = f.directory`,
    [[...fileIds]],
  );
}

/** Cancels the scans of cancelled jobs: scans without an active worker end now, the others get a cancel request. */
export async function cancelScansOf(db: Db, jobIds: readonly string[], now: Date): Promise<void> {
  const held = `exists (select from jobs j where j.id = scans.job_id and j.state = 'active')`;
  await db('scans')
    .whereIn('job_id', [...jobIds])
    .whereIn('state', ['queued', 'running'])
    .update({
      cancel_requested: true,
      state: db.raw(`case when ${held} then state else 'cancelled' end`),
      finished_at: db.raw(`case when not ${held} then ?::timestamptz end`, [now]),
    });
}

/** Requests the cancellation of all queued and running scans of the library. */
export async function cancelScansOfLibrary(db: Db, libraryId: string): Promise<void> {
  await db('scans')
    .where({ library_id: libraryId })
    .whereIn('state', ['queued', 'running'])
    .update({ cancel_requested: true });
}
