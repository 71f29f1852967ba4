import { type ItemSummary, listSummaries } from '#areas/items/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { withoutFail } from '#platform/redis.ts';
import type { Scan, ScanIssue } from './scanning.schemas.ts';
import { findSpeed, type IssueRow, type ScanRow } from './scans.store.ts';

const ZERO: Scan['counts'] = {
  directories: 0,
  directoriesSkipped: 0,
  found: 0,
  total: 0,
  done: 0,
  unchanged: 0,
  added: 0,
  updated: 0,
  moved: 0,
  returned: 0,
  missing: 0,
  unreadable: 0,
  ignored: 0,
  probed: 0,
};

/** Progress of a running scan that a worker writes to Redis every second. */
interface Live {
  counts: Partial<Scan['counts']>;
  folders: Scan['folders'];
}

/**
 * A scan as in the API. A running scan has its progress in Redis, or that of its last checkpoint when Redis is
 * unavailable.
 */
export async function toScan(call: Call, row: ScanRow): Promise<Scan> {
  const live = row.state === 'running' ? await findLive(call, row.id) : undefined;
  const counts = { ...ZERO, ...row.counts, ...live?.counts };
  const manages = may(call.who, 'library:manage');
  const remaining = row.state === 'running' ? await remainingMs(call, row, counts) : undefined;
  return {
    id: row.id,
    libraryId: row.library_id,
    state: row.state,
    mode: row.mode,
    trigger: row.trigger,
    ...present('byUserId', manages ? row.by_account_id : null),
    ...present('phase', row.phase),
    counts,
    folders: live?.folders ?? row.folders,
    ...present('guard', await guardOf(call, row)),
    ...present('targets', manages ? row.targets : null),
    issueCount: row.issue_count,
    resumes: row.resumes,
    ...present('remainingMs', remaining),
    ...present('error', row.error),
    ...timesOf(row),
  };
}

function timesOf(row: ScanRow): Pick<Scan, 'queuedAt' | 'startedAt' | 'finishedAt' | 'durationMs'> {
  const ran = row.started_at && row.finished_at ? row.finished_at.getTime() - row.started_at.getTime() : null;
  return {
    queuedAt: iso(row.queued_at),
    ...present('startedAt', iso(row.started_at)),
    ...present('finishedAt', iso(row.finished_at)),
    ...present('durationMs', ran === null ? null : Math.max(0, ran)),
  };
}

async function findLive({ deps }: Call, scanId: string): Promise<Live | undefined> {
  const text = await withoutFail(() => deps.redis.get(`foyer:scan:${scanId}`), null);
  return text === null ? undefined : (JSON.parse(text) as Live);
}

/** From the speed of the last scan and the number of remaining files. */
async function remainingMs({ db }: Call, row: ScanRow, counts: Scan['counts']): Promise<number | undefined> {
  const last = await findSpeed(db, row.library_id);
  if (!last || last.found === 0) return undefined;
  return Math.max(0, Math.round(((last.found - counts.done) * last.durationMs) / last.found));
}

async function guardOf({ db, who }: Call, { guard }: ScanRow): Promise<Scan['guard'] | undefined> {
  if (!guard) return undefined;
  const sample: ItemSummary[] = await listSummaries(db, who, guard.sampleIds);
  const { decision, wouldMiss, ofTotal, percent, folderIds } = guard;
  return {
    decision,
    wouldMiss,
    ofTotal,
    percent,
    folderIds,
    sample,
    ...present('decidedBy', guard.decidedBy),
    ...present('decidedAt', guard.decidedAt),
  };
}

export function toIssue(row: IssueRow): ScanIssue {
  return {
    kind: row.kind as ScanIssue['kind'],
    folderId: row.folder_id,
    path: row.path,
    ...present('detail', row.detail),
    ...present('itemId', row.item_id),
    at: iso(row.at),
  };
}

/** The member, or no member for a null or undefined value. */
function present<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  return (value === null || value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
