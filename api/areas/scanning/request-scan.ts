import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';

export interface ScanWish {
  libraryId: string;
  mode: 'quick' | 'full' | 'deep';
  trigger: 'person' | 'key' | 'schedule' | 'watch' | 'folder-added' | 'storage-returned' | 'resource' | 'upload';
  byAccountId?: string | undefined;
  /** Only these folders or paths of them; absent is the whole library. */
  targets?: { folderId: string; path?: string | undefined }[] | undefined;
  includeIgnored?: boolean;
  /** Not before. */
  runAt?: Date;
}

interface ScanRow {
  id: string;
  mode: ScanWish['mode'];
  targets: ScanWish['targets'] | null;
  state: string;
}

const rank = { quick: 0, full: 1, deep: 2 } as const;

/**
 * A scan in the caller's transaction: a queued one of the library is widened to cover the wish, else a new one queued.
 * `created` is false when an existing one covers it.
 */
export async function requestScan(db: Db, wish: ScanWish): Promise<{ id: string; created: boolean }> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 3))', [wish.libraryId]);
  const queued = await db('scans')
    .where({ library_id: wish.libraryId, state: 'queued' })
    .first<ScanRow | undefined>('id', 'mode', 'targets', 'state');
  if (queued) {
    await widen(db, queued, wish);
    return { id: queued.id, created: false };
  }
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
  return { id, created: true };
}

async function widen(db: Db, queued: ScanRow, wish: ScanWish): Promise<void> {
  const mode = rank[wish.mode] > rank[queued.mode] ? wish.mode : queued.mode;
  const targets = queued.targets && wish.targets ? JSON.stringify([...queued.targets, ...wish.targets]) : null;
  await db('scans')
    .where({ id: queued.id })
    .update({ mode, targets, include_ignored: db.raw('include_ignored or ?', [wish.includeIgnored ?? false]) });
}
