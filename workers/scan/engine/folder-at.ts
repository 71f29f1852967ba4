import { stat } from 'node:fs/promises';
import { isRemote, statRemote } from '../remote-roots.ts';

/** Whether a folder is there now, on a mount or on a remote storage. */
export async function isFolderAt(path: string): Promise<boolean> {
  if (isRemote(path)) return (await statRemote(path))?.kind === 'directory';
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
