import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { looks } from '#areas/storage/public.ts';
import { TreeWatcher } from './tree-watcher.ts';

const DEBOUNCE_MS = 5000;
const LONGEST_MS = 30_000;
const MOST = 500;

/** File systems that other machines change without events on this one. */
const REMOTE = new Set([
  0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x65735546, 0x01021997, 0x00c36400, 0x73757245, 0x5346414f, 0x0bd00bd0,
]);

/** Whether changes below a folder reach this machine as events; undefined while its mount does not answer. */
export async function reportsChanges({ id, path }: { id: string; path: string }): Promise<boolean | undefined> {
  const found = await looks.run(id, () => statfs(path).catch(() => null));
  if (found === 'slow') return undefined;
  return found !== null && !REMOTE.has(Number(found.type) >>> 0);
}

export interface Changes {
  /** Directories to list, relative to the watched folder; the empty path is the folder itself. */
  paths: string[];
  /** Events were lost or too many: everything must be listed. */
  overflow: boolean;
}

interface Options {
  path: string;
  debounceMs?: number;
  changed: (changes: Changes) => void;
  /** The watcher stopped by itself. */
  lost: (error: Error) => void;
}

/** Collects the events of one folder until they pause for 5 seconds, and reports the changed directories. */
export class FolderWatcher {
  readonly #options: Options;
  readonly #watcher: TreeWatcher;
  readonly #names = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#watcher = new TreeWatcher({
      root: options.path,
      changed: (name) => this.#note(name),
      lost: (error) => {
        this.close();
        options.lost(error);
      },
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher.close();
  }

  #note(name: string): void {
    this.#since ||= Date.now();
    if (this.#names.size <= MOST) this.#names.add(name);
    clearTimeout(this.#timer);
    const rest = this.#since + LONGEST_MS - Date.now();
    this.#timer = setTimeout(
      () => void this.#flush(),
      Math.max(0, Math.min(this.#options.debounceMs ?? DEBOUNCE_MS, rest)),
    );
  }

  async #flush(): Promise<void> {
    const names = [...this.#names];
    this.#names.clear();
    this.#since = 0;
    const overflow = names.length > MOST || names.includes('');
    const paths = overflow ? [] : await Promise.all(names.map((name) => this.#directoryOf(name)));
    this.#options.changed({ paths: outermost(paths), overflow });
  }

  /** A directory stands for itself, anything else for its parent. */
  async #directoryOf(name: string): Promise<string> {
    const found = await stat(join(this.#options.path, name)).catch(() => undefined);
    if (found?.isDirectory()) return name;
    const slash = name.lastIndexOf('/');
    return slash < 0 ? '' : name.slice(0, slash);
  }
}

function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)];
  if (all.includes('')) return [''];
  return all.filter((one) => !all.some((other) => other !== one && one.startsWith(`${other}/`)));
}
