// Whether a recording may start: the quota of recordings, and the free space of its folder.
import { type RecordingRow, usedBytes } from '#areas/live-tv/public.ts';
import { spaceOf } from '#platform/disk.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { folderOf, placeOf } from './target.ts';

/** An unavailable folder is no reason: segments are kept for days. */
export async function hasSpace(deps: WorkerDeps, row: RecordingRow): Promise<boolean> {
  const quota = deps.settings.get('dvr.quotaBytes');
  if (quota !== null && (await usedBytes(deps.db)) >= quota) return false;
  const folder = await folderOf(deps.db, row);
  const place = folder && (await placeOf(deps, folder).catch(() => undefined));
  if (place === undefined) return true;
  const space = await spaceOf(place).catch(() => undefined);
  return space === undefined || space.free >= deps.settings.get('dvr.keepFreeBytes');
}
