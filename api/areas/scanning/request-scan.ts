import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';

export interface ScanRequest {
  libraryId: string;
  mode: 'quick' | 'full' | 'deep';
  trigger: 'person' | 'key' | 'schedule' | 'watch' | 'folder-added' | 'storage-returned' | 'resource' | 'upload';
  byAccountId?: string | undefined;
  /** Only these folders or paths of them; absent is the whole library. */
  targets?: Target[] | undefined;
  includeIgnored?: boolean;
  /** Not before. */
  runAt?: Date;
}

interface Target {
  folderId: string;
  path?: string | undefined;
}

interface ScanRow {
  id: string;
  mode: ScanRequest['mode'];
  targets: Target[] | null;
  state: 'queued' | 'running';
  include_ignored: boolean;
}

export interface Requested {
  id: string;
  /** A new scan was queued. */
  created: boolean;
  /** A scan that was there does all of it; else a queued one was widened or a new one made. */
  covered: boolean;
}

const MOST_TARGETS = 1000;
const rank = { quick: 0, full: 1, deep: 2 } as const;

/** The trigger of a scan that a request starts. */
export function triggerOf({ who }: { who: Principal }): 'resource' | 'key' | 'person' {
  if (who.operator) return 'resource';
  return who.kind === 'key' ? 'key' : 'person';
}

/** A scan in the caller's transaction: one that is there when it covers the wish, else a queued one is widened, else a new one queued. */
export async function requestScan(db: Db, wish: ScanRequest): Promise<Requested> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 3))', [wish.libraryId]);
  const there = await db('scans')
    .where({ library_id: wish.libraryId })
    .whereIn('state', ['queued', 'running'])
    .orderBy('state')
    .select<ScanRow[]>('id', 'mode', 'targets', 'state', 'include_ignored');
  const covering = there.find((scan) => covers(scan, wish));
  if (covering) return { id: covering.id, created: false, covered: true };
  const queued = there.find((scan) => scan.state === 'queued');
  if (queued) {
    await widen(db, queued, wish);
    return { id: queued.id, created: false, covered: false };
  }
  return { id: await queue(db, wish), created: true, covered: false };
}

/** A running scan may have passed a single directory already, so it covers only wishes for the whole library. */
function covers(scan: ScanRow, wish: ScanRequest): boolean {
  if (rank[scan.mode] < rank[wish.mode] || (wish.includeIgnored && !scan.include_ignored)) return false;
  if (scan.state === 'running') return scan.targets === null && !wish.targets;
  if (scan.targets === null) return true;
  return wish.targets?.every((target) => scan.targets?.some((other) => contains(other, target))) ?? false;
}

function contains(outer: Target, inner: Target): boolean {
  if (outer.folderId !== inner.folderId) return false;
  const [a = '', b = ''] = [outer.path, inner.path];
  return a === '' || a === b || b.startsWith(`${a}/`);
}

async function queue(db: Db, wish: ScanRequest): Promise<string> {
  const id = newId();
  const job = await enqueue(db, 'library.scan', {
    payload: { libraryId: wish.libraryId, scanId: id },
    options: {
      key: `library.scan:${id}`,
      libraryId: wish.libraryId,
      target: { kind: 'library', id: wish.libraryId },
      ...(wish.byAccountId && { byAccountId: wish.byAccountId }),
      ...(wish.runAt && { runAt: wish.runAt }),
    },
  });
  await db('scans').insert({
    id,
    library_id: wish.libraryId,
    mode: wish.mode,
    trigger: wish.trigger,
    by_account_id: wish.byAccountId ?? null,
    job_id: job,
    targets: wish.targets ? JSON.stringify(wish.targets) : null,
    include_ignored: wish.includeIgnored ?? false,
  });
  return id;
}

async function widen(db: Db, queued: ScanRow, wish: ScanRequest): Promise<void> {
  const mode = rank[wish.mode] > rank[queued.mode] ? wish.mode : queued.mode;
  const both = queued.targets && wish.targets ? [...queued.targets, ...wish.targets] : [];
  // So many directories are the whole library soon enough.
  const targets = both.length > 0 && both.length <= MOST_TARGETS ? JSON.stringify(both) : null;
  await db('scans')
    .where({ id: queued.id })
    .update({ mode, targets, include_ignored: db.raw('include_ignored or ?', [wish.includeIgnored ?? false]) });
}
