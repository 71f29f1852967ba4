import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from '#areas/storage/public.ts';
import type { ScannedFolder } from '../store/context.ts';

/** Where the folders of a library really are. Links that lead to none of them are not followed. */
export class LibraryTops {
  readonly #folders: readonly ScannedFolder[];

  constructor(folders: readonly ScannedFolder[]) {
    this.#folders = folders.filter(({ root }) => root !== '');
  }

  /** As they are now: a folder may be a link itself. */
  async all(): Promise<string[]> {
    const tops = this.#folders.map(({ root, path }) => realpath(join(root, path)).catch(() => []));
    return (await Promise.all(tops)).flat();
  }

  /** The path without links, looked up anew each time it is to be read; nothing for one that leads out. Throws what the file system says. */
  async resolve(absolute: string): Promise<string | undefined> {
    const real = await realpath(absolute);
    return (await this.all()).some((top) => isBelow(top, real)) ? real : undefined;
  }
}
