import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '#workers/work.ts';

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/** Where a row says that its file is. */
interface Located {
  folder_id: string;
  path: string;
}

interface FolderRow {
  path: string;
  root_name: string | null;
  storage_path: string;
}

/** Tells whether files of any library are still where their rows say. Keeps what it learned of folders, so it is made for each batch. */
export class Whereabouts {
  readonly #work: Pick<Work, 'db' | 'config'>;
  readonly #roots = new Map<string, Promise<string | undefined>>();

  /** Of the folder that is scanned. */
  readonly storageId: string;

  constructor(work: Pick<Work, 'db' | 'config'>, storageId: string) {
    this.#work = work;
    this.storageId = storageId;
  }

  /** Only an error of absence proves it, in a library folder that exists on an available storage. */
  async isGone(file: Located): Promise<boolean> {
    return (await this.#look(file)) === 'gone';
  }

  /** A file that was missing may be back although no scan saw it yet. */
  async isThere(file: Located): Promise<boolean> {
    return (await this.#look(file)) === 'there';
  }

  async #look({ folder_id, path }: Located): Promise<'there' | 'gone' | 'unknown'> {
    const root = await this.#rootOf(folder_id);
    if (root === undefined) return 'unknown';
    return lstat(join(root, path)).then(
      () => 'there',
      (error: unknown) =>
        error instanceof Error && 'code' in error && ABSENT.has(String(error.code)) ? 'gone' : 'unknown',
    );
  }

  #rootOf(folderId: string): Promise<string | undefined> {
    const known = this.#roots.get(folderId) ?? this.#find(folderId);
    this.#roots.set(folderId, known);
    return known;
  }

  /** Absolute path of the storage under a folder; nothing when the folder is away. */
  async #find(folderId: string): Promise<string | undefined> {
    const { db, config } = this.#work;
    const row = await db('library_folders as f')
      .join('storages as s', 's.id', 'f.storage_id')
      .where({ 'f.id': folderId, 's.enabled': true })
      .whereIn('s.state', ['available', 'degraded'])
      .first<FolderRow | undefined>('f.path', 's.root_name', { storage_path: 's.path' });
    const root = row && config.mediaRoots.find(({ name }) => name === row.root_name);
    if (!root) return undefined;
    const storage = join(root.path, row.storage_path);
    const folder = await stat(join(storage, row.path)).catch(() => undefined);
    return folder?.isDirectory() ? storage : undefined;
  }
}
