import { setTimeout as sleep } from 'node:timers/promises';
import { changeFolder } from '#areas/libraries/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import {
  type Checked,
  type FolderOnMount,
  folderHoldsFiles,
  listFoldersOnMounts,
  listWatched,
  lookAtFolder,
  noteCheck,
  noteReason,
  observeStorage,
  rememberStorage,
  type StorageRow,
} from '#areas/storage/public.ts';
import { asLeader } from '#workers/leader.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { recordSight, scanReturned } from './storage-changes.ts';
import { agreedSight, FINE, type Sight } from './voices.ts';

const LOOK_MS = 15_000;
const REMOTE_MS = 60_000;
const RETRY_MS = 5000;
/** Equal checks in a row before a state changes. */
const HOLDS_FOR = 2;
const QUIET_MS = 60_000;
/** Number of the lock of the one worker that checks remote storages. */
const REMOTE_LOCK = 2;
/** Storages checked at once. */
const LANES = 8;

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
  const looking = repeat(() => watch.lookAtMounts(), { deps, signal, everyMs: options.lookMs ?? LOOK_MS });
  const checking = watchRemote(deps, signal, options);
  await Promise.all([looking, checking]);
}

/** One worker checks the remote storages; another takes over when it ends. */
async function watchRemote(deps: WorkerDeps, signal: AbortSignal, options: StorageWatchOptions): Promise<void> {
  const everyMs = options.lookMs ?? REMOTE_MS;
  while (!signal.aborted) {
    const watch = new StorageWatch(deps, options.quietMs ?? QUIET_MS);
    await asLeader(deps.config, { lock: REMOTE_LOCK, signal }, (held) =>
      repeat(() => watch.lookAtRemote(), { deps, signal: held, everyMs }),
    ).catch((error: unknown) => deps.log.debug({ err: error }, 'checking storages waits'));
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface Repeating {
  deps: WorkerDeps;
  signal: AbortSignal;
  everyMs: number;
}

async function repeat(work: () => Promise<void>, { deps, signal, everyMs }: Repeating): Promise<void> {
  while (!signal.aborted) {
    await work().catch((error: unknown) => deps.log.warn({ err: error }, 'looking at storages'));
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

class StorageWatch {
  readonly #deps: WorkerDeps;
  readonly #quietMs: number;
  /** The last observed state, and how often in a row. */
  readonly #streaks = new Map<string, { observed: Sight['observed']; times: number }>();

  constructor(deps: WorkerDeps, quietMs: number) {
    this.#deps = deps;
    this.#quietMs = quietMs;
  }

  async lookAtMounts(): Promise<void> {
    const { db, config } = this.#deps;
    const known = new Set(config.mediaRoots.map(({ name }) => name));
    const mounts = (await listWatched(db, 'mounts')).filter(({ root_name: root }) => root !== null && known.has(root));
    await inTurns(mounts, async (row) => {
      const own = await this.#see(row);
      const agreed = await agreedSight(this.#deps, row.id, own);
      await this.#judge(row, agreed);
    });
    const folders = (await listFoldersOnMounts(db)).filter(({ rootName }) => known.has(rootName));
    await inTurns(folders, async (folder) => {
      const own = await lookAtFolder(config, folder, () => folderHoldsFiles(db, folder.id));
      const sight = own === 'there' ? FINE : { observed: 'unavailable' as const, reason: own };
      await this.#judgeFolder(folder, await agreedSight(this.#deps, folder.id, sight));
    });
    await db.transaction((transaction) => scanReturned(transaction, this.#quietMs));
  }

  async lookAtRemote(): Promise<void> {
    await inTurns(await listWatched(this.#deps.db, 'remote'), async (row) => this.#judge(row, await this.#see(row)));
  }

  async #see(row: StorageRow): Promise<Sight> {
    const checked = await observeStorage(this.#deps, row);
    const { latencyMs, space, ok: good } = checked;
    await noteCheck(this.#deps.db, row.id, { latencyMs, space, good });
    if (good) await rememberStorage(this.#deps, row);
    return sightOf(checked);
  }

  async #judge(row: StorageRow, sight: Sight): Promise<void> {
    const { observed, reason, times } = this.#counted(row.id, sight);
    if (times < HOLDS_FOR) return;
    if (observed === row.state) return noteReason(this.#deps.db, row, reason);
    const changed = await this.#deps.db.transaction((db) => recordSight(db, row, { observed, reason }));
    if (changed) this.#deps.log.warn({ storage: row.id, state: observed, reason }, 'a storage has another state');
  }

  async #judgeFolder(folder: FolderOnMount, sight: Sight): Promise<void> {
    const { observed, reason, times } = this.#counted(folder.id, sight);
    const isUnavailable = observed === 'unavailable' || observed === 'suspect';
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

  /** With the number of checks in a row that saw the same. */
  #counted(id: string, sight: Sight): Sight & { times: number } {
    const before = this.#streaks.get(id);
    const times = before && before.observed === sight.observed ? before.times + 1 : 1;
    this.#streaks.set(id, { observed: sight.observed, times });
    return { ...sight, times };
  }
}

function sightOf({ state, reason }: Checked): Sight {
  const observed = state === 'connecting' || state === 'disabled' ? 'unavailable' : state;
  return { observed, reason: reason ?? null };
}

/** A fault with one of them does not keep the others from being looked at. */
async function inTurns<T>(all: readonly T[], look: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  const faults: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift())
      await look(one).catch((error: unknown) => faults.push(error));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (faults.length > 0) throw faults[0];
}
