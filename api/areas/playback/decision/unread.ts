import { setTimeout as sleep } from 'node:timers/promises';
import { findOpenings } from '#areas/streaming/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { enqueue } from '#platform/queue.ts';
import type { Row } from '#platform/typed-query.ts';

const WAIT_MS = 10_000;
const LOOK_MS = 200;
/** Limit for the state of the files; a slower storage is not waited for. */
const LOOK_LIMIT_MS = 1000;
/** The scan's tolerance, because some file systems store coarse times. */
const SLACK_MS = 1000;
/** Requests of this process that may wait with an open transaction. Others continue with the known data. */
const MOST_WAITING = 2;
/** Files of an item to check. */
const MOST_FILES = 8;

interface FileRow extends Pick<Row<'media_files'>, 'id' | 'size_bytes' | 'modified_ms'> {
  read: boolean;
}

let waiting = 0;

/**
 * Probes files that no scan has probed or that changed since, in a worker before the decision. Waits up to 10 seconds,
 * then the decision uses the known data.
 */
export async function readUnread(call: Call, itemId: string, fileId: string | undefined): Promise<void> {
  const files = await filesOf(call.db, itemId, fileId);
  const stale = await Promise.race([findStale(call, files), sleep(LOOK_LIMIT_MS, [], { ref: false })]);
  if (stale.length === 0 || waiting >= MOST_WAITING) return;
  waiting += 1;
  try {
    const jobs: string[] = [];
    for (const { id } of stale) jobs.push(await enqueueProbe(call, id));
    await untilDone(call, jobs);
  } finally {
    waiting -= 1;
  }
}

async function filesOf(db: Db, itemId: string, fileId: string | undefined): Promise<FileRow[]> {
  const query = db('media_files')
    .where({ item_id: itemId, missing_since: null, ignored: false })
    .limit(MOST_FILES)
    .select<FileRow[]>(
      ...(['id', 'size_bytes', 'modified_ms'] as const),
      db.raw('probe is not null or probe_fault is not null as read'),
    );
  if (fileId) query.where({ id: fileId });
  return query;
}

/** Present files that were never probed or have changed. */
async function findStale(call: Call, files: readonly FileRow[]): Promise<FileRow[]> {
  const found = await findOpenings(
    call,
    files.map((file) => file.id),
  );
  return files.filter((file) => {
    const there = found.get(file.id);
    return there?.kind === 'there' && (!file.read || isOther(file, there));
  });
}

function isOther(file: FileRow, there: { size: number; modifiedAt: Date }): boolean {
  return there.size !== file.size_bytes || Math.abs(there.modifiedAt.getTime() - file.modified_ms) > SLACK_MS;
}

/** Outside the caller's transaction, which commits only after the wait. */
async function enqueueProbe({ deps }: Call, fileId: string): Promise<string> {
  return enqueue(deps.db, 'media.keyframes', {
    payload: { fileId },
    options: {
      key: `media.keyframes:${fileId}:now`,
      queue: 'interactive',
      priority: 10,
      cause: 'system',
      maxAttempts: 1,
      target: { kind: 'file', id: fileId },
    },
  });
}

async function untilDone({ deps, signal }: Call, jobs: readonly string[]): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (Date.now() < end && !signal.aborted) {
    const open = await deps
      .db('jobs')
      .whereIn('id', jobs)
      .whereIn('state', ['waiting', 'delayed', 'active'])
      .select('id');
    if (open.length === 0) return;
    await sleep(LOOK_MS);
  }
}
