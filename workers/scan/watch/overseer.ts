import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LibrarySettings } from '#areas/libraries/libraries.schemas.ts';
import { settingsOf } from '#areas/libraries/public.ts';
import { requestScan, type ScanRequest } from '#areas/scanning/public.ts';
import { findStorages, type Storage } from '#areas/storage/public.ts';
import { asLeader } from '#workers/leader.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { isRemote, remoteRoot } from '../remote-roots.ts';
import { type Changes, FolderWatcher, reportsChanges } from './folder-watcher.ts';
import { dueScan, findLastScans } from './schedule.ts';

/** Number of the lock of the one worker that watches and schedules. */
const LOCK = 1;
const RETRY_MS = 5000;
const LOOK_MS = 15_000;
/** After a watcher failed, the folder is polled for this long before another try. */
const BROKEN_MS = 10 * 60_000;

export interface OverseerOptions {
  lookMs?: number;
  debounceMs?: number;
}

/**
 * Watches local folders and requests scheduled scans, in one worker of the deployment; another takes over when it
 * exits. Ends with the signal.
 */
export async function overseeScans(
  deps: WorkerDeps,
  signal: AbortSignal,
  options: OverseerOptions = {},
): Promise<void> {
  while (!signal.aborted) {
    await asLeader(deps.config, { lock: LOCK, signal }, (held) => new Overseer(deps, options).run(held)).catch(
      (error: unknown) => deps.log.debug({ err: error }, 'watching waits'),
    );
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

interface Folder {
  id: string;
  libraryId: string;
  /** Absolute, or the root of a remote storage, which is only polled. */
  path: string;
}

const isReadable = ({ state, returning }: Storage): boolean => ['available', 'degraded'].includes(state) && !returning;

class Overseer {
  readonly #deps: WorkerDeps;
  readonly #options: OverseerOptions;
  readonly #watchers = new Map<string, FolderWatcher>();
  readonly #brokenUntil = new Map<string, number>();

  constructor(deps: WorkerDeps, options: OverseerOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async run(held: AbortSignal): Promise<void> {
    try {
      while (!held.aborted) {
        await this.#look().catch((error: unknown) => this.#deps.log.warn({ err: error }, 'watching folders'));
        await sleep(this.#options.lookMs ?? LOOK_MS, undefined, { signal: held }).catch(() => undefined);
      }
    } finally {
      for (const watcher of this.#watchers.values()) watcher.close();
    }
  }

  /** Adjusts the watchers to the libraries' settings, and requests due scans. */
  async #look(): Promise<void> {
    const { db, settings } = this.#deps;
    const libraries = await db('libraries').whereNull('deleted_at').select('id', 'type', 'settings', 'created_at');
    const folders = await this.#folders();
    const last = await findLastScans(db);
    const place = { language: settings.get('server.language'), country: settings.get('server.country') };
    const wanted = new Set<string>();
    for (const library of libraries) {
      const mine = folders.filter((folder) => folder.libraryId === library.id);
      if (mine.length === 0) continue;
      const chosen = settingsOf(library, place);
      for (const folder of mine) if (await this.#watches(folder, chosen.watch)) wanted.add(folder.id);
      const due = dueScan(
        {
          id: library.id,
          settings: chosen,
          createdAt: library.created_at,
          lastScheduled: last.get(library.id)?.scheduled ?? null,
          lastWhole: last.get(library.id)?.whole ?? null,
          polled: mine.some((folder) => !wanted.has(folder.id)),
          begins: mine.some((folder) => wanted.has(folder.id) && !this.#watchers.has(folder.id)),
        },
        new Date(),
        settings.get('server.timeZone'),
      );
      if (due) await this.#request({ libraryId: library.id, ...due });
    }
    this.#align(folders, wanted);
  }

  async #folders(): Promise<Folder[]> {
    const { db, config } = this.#deps;
    const rows = await db('library_folders').select('id', 'library_id', 'storage_id', 'path');
    const storages = await findStorages(db, [...new Set(rows.map((row) => row.storage_id))]);
    return rows.flatMap((row) => {
      const storage = storages.get(row.storage_id);
      const root = config.mediaRoots.find((one) => one.name === storage?.rootName);
      if (storage && storage.kind !== 'mount' && isReadable(storage))
        return [{ id: row.id, libraryId: row.library_id, path: remoteRoot(storage.id) }];
      if (!storage || !root || !isReadable(storage)) return [];
      return [{ id: row.id, libraryId: row.library_id, path: join(root.path, storage.path, row.path) }];
    });
  }

  /** `auto` watches folders with kernel events; `events` always watches. */
  async #watches(folder: Folder, watch: LibrarySettings['watch']): Promise<boolean> {
    if (watch === 'off' || watch === 'poll' || isRemote(folder.path)) return false;
    if ((this.#brokenUntil.get(folder.id) ?? 0) > Date.now()) return false;
    const reports = await reportsChanges(folder); // a watch on a mount that hangs would stop this process
    return reports !== undefined && (reports || watch === 'events');
  }

  #align(folders: readonly Folder[], wanted: ReadonlySet<string>): void {
    for (const [id, watcher] of this.#watchers) {
      if (wanted.has(id)) continue;
      watcher.close();
      this.#watchers.delete(id);
    }
    for (const folder of folders) if (wanted.has(folder.id) && !this.#watchers.has(folder.id)) this.#start(folder);
  }

  #start(folder: Folder): void {
    const { debounceMs } = this.#options;
    try {
      const watcher = new FolderWatcher({
        path: folder.path,
        ...(debounceMs === undefined ? {} : { debounceMs }),
        changed: (changes) => void this.#changed(folder, changes),
        lost: (error) => this.#lost(folder, error),
      });
      this.#watchers.set(folder.id, watcher);
    } catch (error) {
      this.#lost(folder, error);
    }
  }

  /** A quick scan finds missed changes; the folder is polled for a while. */
  #lost(folder: Folder, error: unknown): void {
    this.#deps.log.warn({ folder: folder.id, err: error }, 'a folder can no longer be watched');
    this.#watchers.delete(folder.id);
    this.#brokenUntil.set(folder.id, Date.now() + BROKEN_MS);
    void this.#request({ libraryId: folder.libraryId, mode: 'quick', trigger: 'watch' });
  }

  async #changed(folder: Folder, { paths, overflow }: Changes): Promise<void> {
    const { libraryId } = folder;
    const whole = overflow || paths.includes('');
    // The folder's own listing changed: a quick scan lists it and skips unchanged directories.
    const targets = overflow ? undefined : paths.map((path) => ({ folderId: folder.id, path }));
    await this.#request({ libraryId, mode: whole ? 'quick' : 'full', trigger: 'watch', targets });
  }

  async #request(request: ScanRequest): Promise<void> {
    await this.#deps.db
      .transaction((db) => requestScan(db, request))
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error, library: request.libraryId }, 'a scan could not be requested'),
      );
  }
}
