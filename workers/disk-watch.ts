import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { notify } from '#areas/notifications/public.ts';
import { judgeSpace, spaceOf } from '#platform/disk.ts';
import { withoutFail } from '#platform/redis.ts';
import { keepMeasured, type VolumeSpace } from '#platform/store-volumes.ts';
import { objectsSpace, postgresSpace } from './store-space.ts';
import type { WorkerDeps } from './work.ts';

const EVERY_MS = 60_000;
/** Redis: the disks with a notification, by node and path, or by volume. */
const NOTIFIED = 'foyer:disk-low';

type Deps = Pick<WorkerDeps, 'config' | 'db' | 'redis' | 'log'>;

interface Disk {
  id: string;
  /** Shown to users. */
  name: string;
  /** Rejects if it cannot be measured. */
  space: () => Promise<VolumeSpace>;
}

/** Folders that this process writes to. Pods on several nodes have the same paths. */
function foldersOf({ config }: Deps): Disk[] {
  const objects = config.objectsUrl.startsWith('file:') ? [fileURLToPath(config.objectsUrl)] : [];
  return [...objects, config.scratchDir].map((path) => ({
    id: `${config.node}:${path}`,
    name: path,
    space: () => spaceOf(path),
  }));
}

/** Volumes of managed stores, which each worker measures for all. */
function volumesOf({ config, db, redis, log }: Deps): Disk[] {
  const measures = { postgres: () => postgresSpace(db), objects: () => objectsSpace(config.objectsUrl) };
  return (['postgres', 'objects'] as const).flatMap((store) => {
    const volume = config.storeVolumes[store];
    if (volume === undefined) return [];
    const space = async (): Promise<VolumeSpace> => {
      const measured = await measures[store]();
      await keepMeasured(redis, volume, measured);
      return measured;
    };
    const noted = (error: Error): never => {
      log.warn({ volume, err: error.message }, 'the space of a volume is not known');
      throw error;
    };
    return [{ id: `volume:${volume}`, name: volume, space: () => space().catch(noted) }];
  });
}

/** Notifies those who manage settings once when a disk gets low, and again only after it had space in between. */
export async function lookAtDisks(deps: Deps): Promise<void> {
  for (const disk of [...foldersOf(deps), ...volumesOf(deps)]) {
    const space = await disk.space().catch(() => undefined);
    if (space) await judge(deps, disk, space);
  }
}

async function judge({ db, redis }: Deps, { id, name }: Disk, { free, total }: VolumeSpace): Promise<void> {
  if (judgeSpace(free, total).state === 'ok') {
    await redis.hdel(NOTIFIED, id);
    return;
  }
  if ((await redis.hsetnx(NOTIFIED, id, new Date().toISOString())) === 0) return;
  const notice = { kind: 'disk-low', target: { kind: 'disk', id }, data: { name } } as const;
  await db
    .transaction((inside) => notify(inside, notice))
    .catch(async (error: unknown) => {
      await withoutFail(() => redis.hdel(NOTIFIED, id), 0);
      throw error;
    });
}

/** Checks each minute until aborted. */
export async function watchDisks(deps: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await lookAtDisks(deps).catch((error: Error) => deps.log.warn({ err: error.message }, 'disks not looked at'));
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
