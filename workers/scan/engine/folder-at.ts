import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { looks } from '#areas/storage/public.ts';
import { isRemote, statRemote } from '../remote-roots.ts';

interface Folder {
  id: string;
  root: string;
  path: string;
}

/** Whether a path of the folder is a folder now, on a mount that answers or on a remote storage. */
export async function isFolderAt({ id, root }: Pick<Folder, 'id' | 'root'>, path: string): Promise<boolean> {
  const absolute = join(root, path);
  if (isRemote(absolute)) return (await statRemote(absolute))?.kind === 'directory';
  const found = await looks.run(id, () => stat(absolute).catch(() => undefined));
  return found !== 'slow' && found?.isDirectory() === true;
}

/** Its real path, or the path that it is known by while its mount does not answer; undefined when it is gone. */
export async function realFolder({ id, root, path }: Folder): Promise<string | undefined> {
  const known = join(root, path);
  const found = await looks.run(id, async () => ({ real: await realpath(known).catch(() => undefined) }));
  return found === 'slow' ? known : found.real;
}

/** Device and inode of the root and the folder: they change when another file system is mounted there. */
export async function identityNow({ id, root, path }: Folder): Promise<string> {
  if (isRemote(root)) return root;
  const found = await looks.run(id, () =>
    Promise.all([root, join(root, path)].map((one) => stat(one))).catch(() => undefined),
  );
  return found && found !== 'slow' ? found.map(({ dev, ino }) => `${dev}:${ino}`).join('/') : 'gone';
}
