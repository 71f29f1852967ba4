import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from '#platform/is-below.ts';
import { isRemote, openRemote } from '../remote-roots.ts';
import type { ScannedFolder } from '../store/context.ts';
import { realFolder } from './folder-at.ts';

/** The real paths of a library's folders. Links to any other place are not followed. */
export class LibraryTops {
  readonly #folders: readonly ScannedFolder[];

  constructor(folders: readonly ScannedFolder[]) {
    this.#folders = folders.filter(({ root }) => root !== '');
  }

  /** The current real paths: a folder may be a link itself. One whose mount does not answer has the path that it is known by. */
  async all(): Promise<string[]> {
    const tops = this.#folders.map(async (folder) => {
      if (isRemote(folder.root)) return join(folder.root, folder.path);
      return (await realFolder(folder)) ?? [];
    });
    return (await Promise.all(tops)).flat();
  }

  /**
   * The path without links, resolved before each read, or the address of a remote file; undefined outside the library.
   * `tops` of `all()` serve several files that are read together. Throws errors of the file system.
   */
  async resolve(absolute: string, tops?: Promise<string[]>): Promise<string | undefined> {
    if (isRemote(absolute)) return openRemote(absolute);
    const real = await realpath(absolute);
    return (await (tops ?? this.all())).some((top) => isBelow(top, real)) ? real : undefined;
  }
}
