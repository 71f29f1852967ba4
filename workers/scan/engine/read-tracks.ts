import { join } from 'node:path';
import { readTogether } from '#workers/probe/content/pool.ts';
import type { TrackFile } from '#workers/probe/music/track.ts';
import { rulesOf } from '../group/index.ts';
import { inLanes } from '../lanes.ts';
import { isRemote } from '../remote-roots.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { Scan } from './scan.ts';

/** Files that one message names. */
const TOGETHER = 16;

/**
 * Hashes and tags of music on a local storage by path, by one opening of each file. Without those that could not be read together,
 * and empty for all other types. After the first group that takes too long, a scan reads each file alone: the mount is slow.
 */
export async function readTracks(
  scan: Scan,
  folder: ScannedFolder,
  paths: readonly string[],
): Promise<ReadonlyMap<string, TrackFile>> {
  const found = new Map<string, TrackFile>();
  if (rulesOf(scan.library.type)?.readAs !== 'music' || isRemote(folder.root) || paths.length === 0) return found;
  const within = await scan.tops.all();
  const groups = Array.from({ length: Math.ceil(paths.length / TOGETHER) }, (_, n) =>
    paths.slice(n * TOGETHER, (n + 1) * TOGETHER),
  );
  await inLanes(groups, { lanes: scan.options.concurrency, signal: scan.signal }, async (group) => {
    if (scan.together.isSlow) return;
    const absolute = group.map((path) => join(folder.root, path));
    const tracks = await readTogether({ kind: 'track', paths: absolute, within }, scan.signal);
    if (tracks.length < group.length) scan.together.isSlow = true;
    for (const [n, track] of tracks.entries()) if (track) found.set(group[n] as string, track);
  });
  return found;
}
