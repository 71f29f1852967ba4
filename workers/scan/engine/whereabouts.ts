import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Looks } from '#areas/storage/public.ts';
import type { Work } from '#workers/work.ts';
import { enterRemote, isRemote, remoteAt } from '../remote-roots.ts';
import type { Located } from '../store/heirs.ts';
import { isFolderAt } from './folder-at.ts';

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Checks whether files of any library are still where their rows state. Caches what it learns about folders, so each
 * batch needs its own.
 */
export class Whereabouts {
  readonly #work: Pick<Work, 'db' | 'config'>;
  readonly #looks: Looks;
  readonly #roots = new Map<string, Promise<string | undefined>>();

  constructor({ work, looks }: { work: Pick<Work, 'db' | 'config'>; looks: Looks }) {
    this.#work = work;
    this.#looks = looks;
  }

  /** Only an error of absence proves it, in an existing library folder of an available storage. */
  async isGone(file: Located): Promise<boolean> {
    return (await this.#look(file)) === 'gone';
  }

  /** A missing file may be back before a scan found it. */
  async isThere(file: Located): Promise<boolean> {
    return (await this.#look(file)) === 'there';
  }

  async #look(file: Located): Promise<'there' | 'gone' | 'unknown'> {
    const root = await this.#rootOf(file);
    if (root === undefined) return 'unknown';
    const found = await this.#looks.run(keyOf(file), () =>
      isRemote(root)
        ? lookRemote(join(root, file.path))
        : lstat(join(root, file.path)).then(
            () => 'there' as const,
            (error: unknown) =>
              error instanceof Error && 'code' in error && ABSENT.has(String(error.code)) ? 'gone' : 'unknown',
          ),
    );
    return found === 'slow' ? 'unknown' : found;
  }

  #rootOf(file: Located): Promise<string | undefined> {
    const key = keyOf(file);
    const known = this.#roots.get(key) ?? this.#find(file);
    this.#roots.set(key, known);
    return known;
  }

  /** Absolute path on the storage that the row names; undefined while it or the library folder is unavailable. */
  async #find({ storage_id, folder_id }: Located): Promise<string | undefined> {
    const { db, config } = this.#work;
    const row = await db('storages as s')
      .leftJoin('library_folders as f', (on) => on.on('f.storage_id', 's.id').andOnVal('f.id', folder_id))
      .where({ 's.id': storage_id, 's.enabled': true })
      .whereIn('s.state', ['available', 'degraded'])

      .first('s.path', 's.root_name', 's.kind', { folder: 'f.path' });
    if (row && row.kind !== 'mount') {
      const remote = enterRemote(this.#work, storage_id);
      const folder = { id: keyOf({ storage_id, folder_id }), root: remote };
      return (await isFolderAt(folder, row.folder ?? '')) ? remote : undefined;
    }
    const root = row && config.mediaRoots.find(({ name }) => name === row.root_name);
    if (!root) return undefined;
    const storage = join(root.path, row.path);
    const look = () => stat(join(storage, row.folder ?? '')).catch(() => undefined);
    const folder = await this.#looks.run(keyOf({ storage_id, folder_id }), look);
    return folder !== 'slow' && folder?.isDirectory() ? storage : undefined;
  }
}

function keyOf({ storage_id, folder_id }: Omit<Located, 'path'>): string {
  return `${storage_id} ${folder_id}`;
}

/** Only an answer of the storage proves absence. */
async function lookRemote(path: string): Promise<'there' | 'gone' | 'unknown'> {
  try {
    const { reader, path: inside } = await remoteAt(path);
    return (await reader.stat(inside)) ? 'there' : 'gone';
  } catch {
    return 'unknown';
  }
}
