import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { ProbeFault } from '#platform/media.ts';
import { recordset } from '../store/context.ts';

export type IssueKind =
  | 'unreadable'
  | 'corrupt'
  | 'unrecognised-name'
  | 'name-conflict'
  | 'too-long-path'
  | 'bad-encoding'
  | 'probe-timeout'
  | 'bad-sidecar'
  | 'unsafe-archive'
  | 'link-outside';

export interface Issue {
  kind: IssueKind;
  folderId: string;
  path: string;
  detail?: string | undefined;
}

const KINDS: Readonly<Partial<Record<ProbeFault, IssueKind>>> = {
  unreadable: 'unreadable',
  'probe-timeout': 'probe-timeout',
  'link-outside': 'link-outside',
  'unsafe-archive': 'unsafe-archive',
};

/** The issue that reports a probe fault. */
export function issueOfFault(fault: ProbeFault): IssueKind {
  return KINDS[fault] ?? 'corrupt';
}

/**
 * Writes a scan's issues and their count in the caller's transaction, after its items. A resumed scan does not report
 * an issue twice.
 */
export async function writeIssues(db: Db, scanId: string, issues: readonly Issue[]): Promise<void> {
  if (issues.length === 0) return;
  const rows = issues.map((issue) => ({
    ...issue,
    id: newId(),
    folder_id: issue.folderId,
    detail: issue.detail?.slice(0, 500),
  }));
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into scan_issues (id, scan_id, kind, folder_id, path, detail, item_id)
     select r.id, ?, r.kind, r.folder_id, r.path, r.detail,
       (select f.item_id from media_files f where f.folder_id = r.folder_id and f.path = r.path limit 1)
     from jsonb_to_recordset(?::jsonb) as r(id uuid, kind text, folder_id uuid, path text, detail text)
     where not exists (select 1 from scan_issues s where s.scan_id = ? and s.kind = r.kind and s.folder_id = r.folder_id and s.path = r.path)`,
    [scanId, recordset(rows), scanId],
  );
  await db.raw('update scans set issue_count = issue_count + ? where id = ?', [rowCount, scanId]);
}

/** From this number on, unreadable files are one issue of their common directory. */
const MANY = 10;

/**
 * Reports many unreadable files as one issue of the directory that contains them all, as for a lost mount; later ones
 * below it are left out. `reported` keeps these directories for the rest of the scan.
 */
export function gathered(issues: readonly Issue[], reported: string[]): Issue[] {
  const fresh = issues.filter(({ kind, path }) => kind !== 'unreadable' || !reported.some((top) => isBelow(path, top)));
  const unreadable = fresh.filter(({ kind }) => kind === 'unreadable');
  const [first] = unreadable;
  if (unreadable.length <= MANY || !first) return fresh;
  const path = commonOf(unreadable.map((issue) => issue.path.slice(0, Math.max(0, issue.path.lastIndexOf('/')))));
  reported.push(path);
  const detail = `${unreadable.length} files and more: ${first.detail ?? ''}`;
  return [...fresh.filter(({ kind }) => kind !== 'unreadable'), { ...first, path, detail }];
}

function isBelow(path: string, top: string): boolean {
  return top === '' || path.startsWith(`${top}/`);
}

function commonOf(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/'));
  const length = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return (length < 0 ? first : first.slice(0, length)).join('/');
}
