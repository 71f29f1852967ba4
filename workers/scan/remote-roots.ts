// Remote storages in a scan: their folders have paths of the form remote:<storage id>/<path>, which no file system has.
import { Absent, addressOf, type Listed, readerById, StorageFault, type StorageReader } from '#areas/storage/public.ts';
import type { Work } from '#workers/work.ts';

const SCHEME = 'remote:';

export const remoteRoot = (storageId: string): string => `${SCHEME}${storageId}`;

export const isRemote = (path: string): boolean => path.startsWith(SCHEME);

/** The readers of a process, by root; a scan enters those of its folders. */
const readers = new Map<string, () => Promise<StorageReader | undefined>>();

export function enterRemote({ db, config }: Pick<Work, 'db' | 'config'>, storageId: string): string {
  const root = remoteRoot(storageId);
  readers.set(root, () => readerById({ db, config }, storageId));
  return root;
}

/** The reader of a path and the path inside its storage. Throws `StorageFault`. */
export async function remoteAt(path: string): Promise<{ reader: StorageReader; path: string }> {
  const cut = path.indexOf('/');
  const root = cut < 0 ? path : path.slice(0, cut);
  const reader = await readers.get(root)?.();
  if (!reader) throw new StorageFault('root-missing', 'the storage does not exist');
  return { reader, path: cut < 0 ? '' : path.slice(cut + 1) };
}

/** The file or folder at the path; undefined without one, or when the storage does not answer. */
export async function statRemote(path: string): Promise<Listed | undefined> {
  try {
    const { reader, path: inside } = await remoteAt(path);
    return await reader.stat(inside);
  } catch (error) {
    if (error instanceof StorageFault) return undefined;
    throw error;
  }
}

const fault = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code });

/** The address under which this process and its children read the file. Throws errors with a code, as the file system does. */
export async function openRemote(path: string): Promise<string> {
  try {
    const { reader, path: inside } = await remoteAt(path);
    const found = await reader.stat(inside);
    if (found?.kind !== 'file') throw new Absent('no such file');
    return await addressOf({ reader, path: inside, size: found.size, modifiedMs: found.modifiedMs });
  } catch (error) {
    if (error instanceof Absent) throw fault('ENOENT', error);
    throw error instanceof StorageFault ? fault('EIO', error) : error;
  }
}
