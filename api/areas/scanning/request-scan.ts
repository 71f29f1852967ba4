import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';

export interface ScanRequest {
  libraryId: string;
  mode: 'quick' | 'full' | 'deep';
  trigger: 'person' | 'key' | 'schedule' | 'watch' | 'folder-added' | 'storage-returned' | 'resource' | 'upload';
  byAccountId?: string | undefined;
  /** Limits the scan to these folders or paths; absent is the whole library. */
  targets?: Target[] | undefined;
  includeIgnored?: boolean;
  /** The scan starts no earlier. */
  runAt?: Date;
}

interface Target {
  folderId: string;
  path?: string | undefined;
}

type ScanRow = Pick<Row<'scans'>, 'id' | 'targets' | 'include_ignored' | 'mode' | 'state'>;

export interface Requested {
  id: string;
  /** A new scan was queued. */
  created: boolean;
  /** An existing scan covers the request. When false, a queued scan was extended or a new one queued. */
  covered: boolean;
}

const MOST_TARGETS = 1000;
const rank = { quick: 0, full: 1, deep: 2 } as const;

/** The trigger of a scan that a request starts. */
export function triggerOf({ who }: { who: Principal }): 'resource' | 'key' | 'person' {
  if (who.operator) return 'resource';
  return who.kind === 'key' ? 'key' : 'person';
}

/**
 * Requests a scan in the caller's transaction. Returns a scan that covers the request, else extends the queued scan,
 * else queues a new one.
 */
export async function requestScan(db: Db, request: ScanRequest): Promise<Requested> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 3))', [request.libraryId]);
  const open = await db('scans')
    .where({ library_id: request.libraryId })
    .whereIn('state', ['queued', 'running'])
    .orderBy('state')
    .select('id', 'mode', 'targets', 'state', 'include_ignored');
  const covering = open.find((scan) => covers(scan, request));
  if (covering) return { id: covering.id, created: false, covered: true };
  const queued = open.find((scan) => scan.state === 'queued');
  if (queued) {
    await widen(db, queued, request);
    return { id: queued.id, created: false, covered: false };
  }
  return { id: await queue(db, request), created: true, covered: false };
}

/** A running scan may have passed a directory, so it covers only requests for the whole library. */
function covers(scan: ScanRow, request: ScanRequest): boolean {
  if (rank[scan.mode] < rank[request.mode] || (request.includeIgnored && !scan.include_ignored)) return false;
  if (scan.state === 'running') return scan.targets === null && !request.targets;
  if (scan.targets === null) return true;
  return request.targets?.every((target) => scan.targets?.some((other) => contains(other, target))) ?? false;
}

function contains(outer: Target, inner: Target): boolean {
  if (outer.folderId !== inner.folderId) return false;
  const [a = '', b = ''] = [outer.path, inner.path];
  return a === '' || a === b || b.startsWith(`${a}/`);
}

async function queue(db: Db, request: ScanRequest): Promise<string> {
  const id = newId();
  const job = await enqueue(db, 'library.scan', {
    payload: { libraryId: request.libraryId, scanId: id },
    options: {
      key: `library.scan:${id}`,
      libraryId: request.libraryId,
      target: { kind: 'library', id: request.libraryId },
      ...(request.byAccountId && { byAccountId: request.byAccountId }),
      ...(request.runAt && { runAt: request.runAt }),
    },
  });
  await db('scans').insert({
    id,
    library_id: request.libraryId,
    mode: request.mode,
    trigger: request.trigger,
    by_account_id: request.byAccountId ?? null,
    job_id: job,
    targets: request.targets ? JSON.stringify(request.targets) : null,
    include_ignored: request.includeIgnored ?? false,
  });
  return id;
}

async function widen(db: Db, queued: ScanRow, request: ScanRequest): Promise<void> {
  const mode = rank[request.mode] > rank[queued.mode] ? request.mode : queued.mode;
  const both = queued.targets && request.targets ? [...queued.targets, ...request.targets] : [];
  // Above this number of directories, the whole library is scanned.
  const targets = both.length > 0 && both.length <= MOST_TARGETS ? JSON.stringify(both) : null;
  await db('scans')
    .where({ id: queued.id })
    .update({ mode, targets, include_ignored: db.raw('include_ignored or ?', [request.includeIgnored ?? false]) });
}
