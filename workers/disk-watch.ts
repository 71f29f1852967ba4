import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { notify } from '#areas/notifications/public.ts';
import { spaceOf } from '#platform/disk.ts';
import { withoutFail } from '#platform/redis.ts';
import type { WorkerDeps } from './work.ts';

const EVERY_MS = 60_000;
/** Redis: the disks that people were notified of, by node and path. */
const NOTIFIED = 'foyer:disk-low';

type Deps = Pick<WorkerDeps, 'config' | 'db' | 'redis' | 'log'>;

/** Folders that this process writes to. */
function foldersOf({ config }: Deps): string[] {
  const objects = config.objectsUrl.startsWith('file:') ? [fileURLToPath(config.objectsUrl)] : [];
  return [...objects, config.scratchDir];
}

/** Notifies those who manage settings once when a disk gets low, and again only after it had space in between. */
export async function lookAtDisks(deps: Deps): Promise<void> {
  const { config, db, redis } = deps;
  for (const path of foldersOf(deps)) {
    const disk = `${config.node}:${path}`; // pods of several nodes have the same path
    const space = await spaceOf(path).catch(() => undefined);
    if (space?.state === 'ok') await redis.hdel(NOTIFIED, disk);
    if (!space || space.state === 'ok') continue;
    if ((await redis.hsetnx(NOTIFIED, disk, new Date().toISOString())) === 0) continue;
    const notice = { kind: 'disk-low', target: { kind: 'disk', id: disk }, data: { name: path } } as const;
    await db
      .transaction((inside) => notify(inside, notice))
      .catch(async (error: unknown) => {
        await withoutFail(() => redis.hdel(NOTIFIED, disk), 0);
        throw error;
      });
  }
}

/** Looks each minute until aborted. */
export async function watchDisks(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await lookAtDisks(deps).catch((error: Error) => deps.log.warn({ err: error.message }, 'disks not looked at'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
