import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface TreeOptions {
  /** Absolute. */
  root: string;
  /** A name below the root; the empty one is the root itself. */
  changed: (name: string) => void;
  /** The tree can no longer be watched completely, and watching has stopped. */
  lost: (error: Error) => void;
  /** Replaces `watch` of `node:fs`, in tests of an exhausted kernel limit. */
  watch?: typeof watch;
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);
/** Neither watchable nor listable: the scan reports it. */
const CLOSED = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP']);
/** The time of a directory is that of the kernel's last tick. */
const TICK_MS = 10;

/**
 * Watches every directory below a root, except hidden ones. Node's own recursive watch also uses a kernel watch for
 * each file, walks the tree in one go on the main thread, and does not report when the kernel has no more watches.
 */
export class TreeWatcher {
  readonly #options: TreeOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  /** Watched subdirectories of each directory. */
  readonly #inner = new Map<string, Set<string>>();
  readonly #begins = Date.now();
  #filling = true;
  #closed = false;

  /** Throws if the root itself cannot be watched. */
  constructor(options: TreeOptions) {
    this.#options = options;
    this.#watch('');
    void this.#fill('').then(() => {
      this.#filling = false;
    });
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#inner.clear();
  }

  /** Number of watched directories. */
  get size(): number {
    return this.#watchers.size;
  }

  /** Watches a directory before listing it, so that events cover everything that appears in between. */
  async #fill(top: string): Promise<void> {
    const waiting = [top];
    for (let path = waiting.pop(); path !== undefined && !this.#closed; path = waiting.pop()) {
      const inner = await this.#directoriesIn(path);
      waiting.push(...inner.filter((name) => this.#tried(name)));
    }
  }

  async #directoriesIn(path: string): Promise<string[]> {
    try {
      const absolute = join(this.#options.root, path);
      // Changed after watching began and before this directory was watched: there was no event.
      if (this.#filling && (await stat(absolute)).mtimeMs > this.#begins - TICK_MS) this.#options.changed(path);
      const entries = await readdir(absolute, { withFileTypes: true });
      const directories = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
      return directories.map(({ name }) => join(path, name));
    } catch (error) {
      this.#fault(error);
      return [];
    }
  }

  /** True when it is watched from now on. */
  #tried(path: string): boolean {
    if (this.#closed) return false;
    try {
      this.#watch(path);
      return true;
    } catch (error) {
      this.#fault(error);
      return false;
    }
  }

  #watch(path: string): void {
    const watcher = (this.#options.watch ?? watch)(join(this.#options.root, path), { persistent: false });
    this.#watchers.get(path)?.close();
    this.#watchers.set(path, watcher);
    if (path !== '') this.#inner.set(parentOf(path), (this.#inner.get(parentOf(path)) ?? new Set()).add(path));
    watcher.on('change', (kind, name) => this.#note(path, kind, String(name ?? '')));
    watcher.on('error', (error) => this.#fault(error));
  }

  #note(path: string, kind: string, name: string): void {
    if (this.#closed || name.startsWith('.')) return;
    const inner = join(path, name);
    this.#options.changed(inner);
    if (kind === 'rename') void this.#look(inner);
  }

  /**
   * Something appeared, vanished or was replaced. The new watch starts before the old one ends, so that nothing is
   * missed.
   */
  async #look(path: string): Promise<void> {
    const found = await lstat(join(this.#options.root, path)).catch(() => undefined);
    if (this.#closed) return;
    if (!found?.isDirectory()) this.#leave(path);
    else if (this.#tried(path)) await this.#fill(path);
  }

  /** Visits only its content, because thousands of directories may vanish one by one. */
  #leave(path: string): void {
    const watcher = this.#watchers.get(path);
    if (!watcher) return;
    watcher.close();
    this.#watchers.delete(path);
    for (const name of this.#inner.get(path) ?? []) this.#leave(name);
    this.#inner.delete(path);
    this.#inner.get(parentOf(path))?.delete(path);
  }

  #fault(error: unknown): void {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (this.#closed || ABSENT.has(code) || CLOSED.has(code)) return;
    this.close();
    this.#options.lost(error as Error);
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
