// Whether a recording may start: the quota of recordings, and the free space of its folder.
import { type RecordingRow, usedBytes } from '#areas/live-tv/public.ts';
import { spaceOf } from '#platform/disk.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { purgeExpired, trimRecordings } from '../keeping/trim.ts';
import { folderOf, placeOf } from './target.ts';

/** Removes recordings that are beyond keepDays or keepLast while there is no space, and nothing else. */
export async function makeSpace(deps: WorkerDeps, row: RecordingRow): Promise<boolean> {
  const short = await shortageOf(deps, row);
  if (!short) return true;
  await trimRecordings(deps);
  if (short.storageId !== undefined) await purgeExpired(deps, short.storageId, short.bytes);
  return (await shortageOf(deps, row)) === undefined;
}

interface Shortage {
  /** Of the folder that has too little free space; absent when recordings have used up their quota. */
  storageId?: string;
  bytes: number;
}

/** An unavailable folder is no reason: segments are kept for days. */
async function shortageOf(deps: WorkerDeps, row: RecordingRow): Promise<Shortage | undefined> {
  const quota = deps.settings.get('dvr.quotaBytes');
  const used = quota === null ? 0 : await usedBytes(deps.db);
  if (quota !== null && used >= quota) return { bytes: used - quota };
  const folder = await folderOf(deps.db, row);
  const place = folder && (await placeOf(deps, folder).catch(() => undefined));
  const space = place === undefined ? undefined : await spaceOf(place).catch(() => undefined);
  const bytes = deps.settings.get('dvr.keepFreeBytes') - (space?.free ?? Number.POSITIVE_INFINITY);
  return folder && bytes > 0 ? { storageId: folder.storageId, bytes } : undefined;
}
