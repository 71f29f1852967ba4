import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeFolder } from '#areas/libraries/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import {
  changeState,
  type FolderOnMount,
  folderHoldsFiles,
  holdsFiles,
  listFoldersOnMounts,
  listMounts,
  type Mount,
  type Seen as Observed,
  takeReturned,
} from '#areas/storage/public.ts';
import type { Db } from '#platform/db.ts';
import { withoutFail } from '#platform/redis.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { holdClocks } from '../store/clocks.ts';

const LOOK_MS = 15_000;
const LIMIT_MS = 5000;
/** Equal checks in a row before a state changes. */
const HOLDS_FOR = 2;
/** A worker without a report for this long is ignored. */
const VOICE_MS = 60_000;
const QUIET_MS = 60_000;

export interface StorageWatchOptions {
  lookMs?: number;
  quietMs?: number;
}

/**
 * Checks the mounts from each worker and writes the state that most of them observe: unavailable, available again, or
 * replaced. A storage that has been back for a quiet minute is scanned. Ends with the signal.
 */
export async function watchStorages(
  deps: WorkerDeps,
  signal: AbortSignal,
  options: StorageWatchOptions = {},
): Promise<void> {
  const watch = new StorageWatch(deps, options.quietMs ?? QUIET_MS);
  while (!signal.aborted) {
    await watch.look().catch((error: unknown) => deps.log.warn({ err: error }, 'looking at storages'));
    await sleep(options.lookMs ?? LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface Sight {
  observed: Observed;
  reason: string | null;
}

const FINE: Sight = { observed: 'available', reason: null };

class StorageWatch {
  readonly #deps: WorkerDeps;
  readonly #quietMs: number;
  /** The last observed state, and how often in a row. */
  readonly #streaks = new Map<string, { observed: Observed; times: number }>();
  /** Mounts whose file system has not responded yet: they are not checked again. */
  readonly #hanging = new Set<string>();

  constructor(deps: WorkerDeps, quietMs: number) {
    this.#deps = deps;
    this.#quietMs = quietMs;
  }

  async look(): Promise<void> {
    const { db, config } = this.#deps;
    for (const mount of await listMounts(db)) {
      const root = config.mediaRoots.find(({ name }) => name === mount.rootName);
      const holds = () => holdsFiles(db, mount.id);
      if (root) await this.#judge(mount, await this.#see(mount.id, join(root.path, mount.path), holds));
    }
    for (const folder of await listFoldersOnMounts(db)) {
      const root = config.mediaRoots.find(({ name }) => name === folder.rootName);
      const holds = () => folderHoldsFiles(db, folder.id);
      if (root)
        await this.#judgeFolder(
          folder,
          await this.#see(folder.id, join(root.path, folder.storagePath, folder.path), holds),
        );
    }
    await db.transaction((transaction) => scanReturned(transaction, this.#quietMs));
  }

  /** An empty place where files are known is not believed. */
  async #see(id: string, path: string, holds: () => Promise<boolean>): Promise<Sight> {
    if (this.#hanging.has(id)) return { observed: 'unavailable', reason: 'timeout' };
    this.#hanging.add(id);
    const state = stateOf(path).finally(() => this.#hanging.delete(id));
    const found = await Promise.race([state, sleep(LIMIT_MS, 'slow' as const, { ref: false })]);
    if (found === 'slow') return { observed: 'unavailable', reason: 'timeout' };
    if (found === 'gone') return { observed: 'unavailable', reason: 'not-mounted' };
    const lost = found === 'empty' && (await holds());
    return lost ? { observed: 'suspect', reason: 'root-empty' } : FINE;
  }

  async #judge(mount: Mount, own: Sight): Promise<void> {
    const { observed, reason, times } = await this.#steady(mount.id, own);
    if (observed === mount.state || times < HOLDS_FOR) return;
    const changed = await this.#deps.db.transaction((db) => change(db, mount, { observed, reason }));
    if (changed) this.#deps.log.warn({ storage: mount.id, state: observed, reason }, 'a storage has another state');
  }

  async #judgeFolder(folder: FolderOnMount, own: Sight): Promise<void> {
    const { observed, reason, times } = await this.#steady(folder.id, own);
    const isUnavailable = observed !== 'available';
    if (isUnavailable === folder.unavailable || times < HOLDS_FOR) return;
    const changed = await this.#deps.db.transaction(async (db) => {
      if (!(await changeFolder(db, folder, isUnavailable))) return false;
      const { libraryId, id: folderId } = folder;
      if (!isUnavailable)
        await requestScan(db, { libraryId, mode: 'quick', trigger: 'storage-returned', targets: [{ folderId }] });
      return true;
    });
    if (changed)
      this.#deps.log.warn(
        { folder: folder.id, unavailable: isUnavailable, reason },
        'a folder of a library has another state',
      );
  }

  /** The agreed state, and for how many checks in a row. */
  async #steady(id: string, own: Sight): Promise<Sight & { times: number }> {
    const agreed = await this.#agreed(id, own);
    const before = this.#streaks.get(id);
    const times = before && before.observed === agreed.observed ? before.times + 1 : 1;
    this.#streaks.set(id, { observed: agreed.observed, times });
    return { ...agreed, times };
  }

  /**
   * The state that most workers observe; with two, neither outvotes the other. Without Redis each uses its own
   * observation.
   */
  async #agreed(id: string, own: Sight): Promise<Sight> {
    const { redis, config } = this.#deps;
    const key = `foyer:storage-seen:${id}`;
    const now = Date.now();
    const voices = await withoutFail(async () => {
      await redis.hset(key, config.pod, JSON.stringify({ seen: own.observed, reason: own.reason, at: now }));
      await redis.pexpire(key, VOICE_MS);
      return Object.values(await redis.hgetall(key)).map((text): Sight & { at: number } => {
        const { seen, ...rest } = JSON.parse(text) as { seen: Observed; reason: Sight['reason']; at: number };
        return { observed: seen, ...rest };
      });
    }, []);
    const heard = voices.filter(({ at }) => now - at < VOICE_MS);
    const against = heard.filter(({ observed }) => observed !== 'available');
    if (heard.length === 0) return own;
    return against.length * 2 > heard.length && against[0] ? against[0] : FINE;
  }
}

async function stateOf(path: string): Promise<'there' | 'empty' | 'gone'> {
  try {
    if (!(await stat(path)).isDirectory()) return 'gone';
    const directory = await opendir(path);
    const first = await directory.read();
    await directory.close();
    return first ? 'there' : 'empty';
  } catch {
    return 'gone';
  }
}

async function change(db: Db, mount: Mount, { observed, reason }: Sight): Promise<boolean> {
  const changed = await changeState(db, mount, { to: observed, reason });
  if (!changed) return false;
  const back = observed === 'available';
  if (back) await holdClocks(db, mount.id, changed.unavailableMs);
  if (back || mount.state === 'available') {
    const target = { kind: 'storage', id: mount.id };
    const kind = back ? 'storage-available' : 'storage-unavailable';
    await notify(db, { kind, target, data: { name: mount.name } });
  }
  return true;
}

/** Requests a quick scan of the content of storages that came back and stayed. */
async function scanReturned(db: Db, quietMs: number): Promise<void> {
  const returned = await takeReturned(db, quietMs);
  if (returned.length === 0) return;
  const rows = await db('library_folders as f')
    .join('libraries as l', 'l.id', 'f.library_id')
    .whereNull('l.deleted_at')
    .select<{ id: string; libraryId: string; storageId: string }[]>('f.id', {
      libraryId: 'f.library_id',
      storageId: 'f.storage_id',
    });
  for (const [libraryId, folders] of Map.groupBy(rows, (row) => row.libraryId)) {
    const back = folders.filter((folder) => returned.includes(folder.storageId));
    if (back.length === 0) continue;
    const targets = back.length < folders.length ? back.map(({ id }) => ({ folderId: id })) : undefined;
    await requestScan(db, { libraryId, mode: 'quick', trigger: 'storage-returned', targets });
  }
}
