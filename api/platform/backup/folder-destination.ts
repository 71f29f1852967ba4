import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Destination, DestinationUnavailable, NotStored } from './destination.ts';

const DRAFTS = '.foyer-drafts';

/** Backups in a folder that must exist: a missing folder means an unavailable storage and is never created. */
export function folderDestination(base: string): Destination {
  const place = (name: string): string => {
    if (name.split('/').some((part) => part === '' || part === '.' || part === '..')) throw new Error('bad name');
    return join(base, name);
  };
  const write = async (name: string, body: Readable | Buffer): Promise<void> => {
    const target = place(name);
    const draft = join(base, DRAFTS, randomUUID());
    await stat(base);
    await mkdir(dirname(draft), { recursive: true });
    try {
      await pipeline(Buffer.isBuffer(body) ? Readable.from([body]) : body, createWriteStream(draft, { flush: true }));
      await mkdir(dirname(target), { recursive: true });
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  };
  return {
    async read(name, range = {}) {
      const target = place(name);
      if ((await sizeOf(target)) === undefined) throw new NotStored(name);
      return createReadStream(target, { ...range, highWaterMark: 1 << 20 });
    },
    size: (name) => sizeOf(place(name)),
    write: (name, body) => write(name, body).catch(asUnavailable),
    list: (prefix) => listFolder(base, prefix),
    remove: (name) => rm(place(name), { force: true }).catch(asUnavailable),
    async free() {
      const { bavail, bsize } = await statfs(base).catch(asUnavailable);
      return bavail * bsize;
    },
  };
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch((error: { code?: string }) =>
    error.code === 'ENOENT' ? undefined : asUnavailable(error),
  );
  return found?.isFile() ? found.size : undefined;
}

async function* listFolder(base: string, prefix: string) {
  await stat(base).catch(asUnavailable);
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const found = await readdir(join(base, folder), { recursive: true, withFileTypes: true }).catch(
    (error: { code?: string }) => (error.code === 'ENOENT' ? [] : asUnavailable(error)),
  );
  for (const entry of found) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(base.length + 1);
    if (!entry.isFile() || !name.startsWith(prefix) || name.startsWith(DRAFTS)) continue;
    const { size, mtime } = await stat(path).catch(asUnavailable);
    yield { name, bytes: size, at: mtime };
  }
}

const STATES: Record<string, DestinationUnavailable['state']> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
};

/** Converts faults of the folder; an error of the written stream stays as it is. */
function asUnavailable(error: unknown): never {
  const { code, message } = error as { code?: string; message: string };
  if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
  throw new DestinationUnavailable(STATES[code] ?? 'unreachable', message, { cause: error });
}
