// Reads mounts in a process of its own, because a call to a hung network file system never returns. Ends with its parent.
import type { Stats } from 'node:fs';
import { access, constants, lstat, open, opendir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { Request, Response } from './protocol.ts';

const fault = (code: string): Error => Object.assign(new Error(code), { code });

/** The absolute path, with links resolved and below the media root. */
async function placeOf({ root, folder, path }: Request): Promise<string> {
  const top = await realpath(root);
  const found = await realpath(join(top, folder, path));
  const way = relative(top, found);
  if (isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`)) throw fault('OUTSIDE');
  return found;
}

interface Listed {
  name: string;
  kind: 'directory' | 'file' | 'other';
  size: number;
  modifiedMs: number;
  readable: boolean;
  symlink?: boolean;
}

function toListed(name: string, found: Stats, more: Pick<Listed, 'readable'> & { symlink?: boolean }): Listed {
  const kind = found.isDirectory() ? 'directory' : found.isFile() ? 'file' : 'other';
  return { name, kind, size: found.isFile() ? found.size : 0, modifiedMs: Math.trunc(found.mtimeMs), ...more };
}

const canRead = (path: string, isFolder: boolean): Promise<boolean> =>
  access(path, isFolder ? constants.R_OK | constants.X_OK : constants.R_OK).then(
    () => true,
    () => false,
  );

/** A link that leaves the media root counts as unreadable and is listed by its own facts. */
async function entryOf(request: Request, directory: string, name: string): Promise<Listed | undefined> {
  const own = join(directory, name);
  const found = await lstat(own).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isSymbolicLink()) return toListed(name, found, { readable: await canRead(own, found.isDirectory()) });
  const target = await placeOf({ ...request, path: join(request.path, name) }).catch(() => undefined);
  const there = target === undefined ? undefined : await stat(target).catch(() => undefined);
  if (!there || target === undefined) return toListed(name, found, { readable: false, symlink: true });
  return toListed(name, there, { readable: await canRead(target, there.isDirectory()), symlink: true });
}

/** Concurrent calls of a listing. */
const LANES = 16;

async function list(request: Request): Promise<{ entries: Listed[]; cut: boolean }> {
  const directory = await placeOf(request);
  const names: string[] = [];
  let cut = false;
  for await (const { name } of await opendir(directory)) {
    cut = names.length >= (request.most ?? 0);
    if (cut) break;
    names.push(name);
  }
  const entries: Listed[] = [];
  for (let at = 0; at < names.length; at += LANES) {
    const found = await Promise.all(names.slice(at, at + LANES).map((name) => entryOf(request, directory, name)));
    entries.push(...found.filter((one) => one !== undefined));
  }
  return { entries, cut };
}

async function statOne(request: Request): Promise<Listed> {
  const place = await placeOf(request);
  const found = await stat(place);
  return toListed(place.slice(place.lastIndexOf(sep) + 1), found, {
    readable: await canRead(place, found.isDirectory()),
  });
}

/** Only a regular file is opened: a pipe would never answer. */
async function read(request: Request): Promise<Buffer> {
  const place = await placeOf(request);
  if (!(await stat(place)).isFile()) throw fault('NOT_A_FILE');
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(request.length ?? 0);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, request.start ?? 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The parent folder must exist; the last segment is never followed as a link. */
async function targetOf(request: Request): Promise<string> {
  const cut = request.path.lastIndexOf('/');
  const parent = await placeOf({ ...request, path: cut < 0 ? '' : request.path.slice(0, cut) });
  return join(parent, request.path.slice(cut + 1));
}

/** A replacement is written to another file and renamed, so that a reader sees the old or the new content. */
async function write(request: Request): Promise<null> {
  const target = await targetOf(request);
  const draft = request.replace ? `${target}.new` : target;
  if (request.replace) await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o644);
  try {
    await file.writeFile(request.content ?? Buffer.alloc(0));
    await file.sync();
  } finally {
    await file.close();
  }
  if (request.replace) await rename(draft, target);
  return null;
}

async function remove(request: Request): Promise<null> {
  await rm(await targetOf(request), { force: true });
  return null;
}

async function space(request: Request): Promise<{ totalBytes: number; freeBytes: number }> {
  const found = await statfs(await placeOf(request));
  return { totalBytes: found.blocks * found.bsize, freeBytes: found.bavail * found.bsize };
}

/** Differs when another disk is mounted at the same path. */
async function fingerprint(request: Request): Promise<string> {
  const place = await placeOf(request);
  const [own, system] = await Promise.all([stat(place), statfs(place)]);
  return `${own.dev}:${own.ino}:${system.type}:${system.blocks}`;
}

/** Throws when the file system is read-only or the process may not write. */
async function writable(request: Request): Promise<null> {
  await access(await placeOf(request), constants.W_OK);
  return null;
}

const ops = { list, stat: statOne, read, write, remove, space, fingerprint, writable };

process.on('message', (request: Request) => {
  const answer = (response: Response): void => void process.send?.(response);
  ops[request.op](request).then(
    (value) => answer({ id: request.id, value }),
    (error: NodeJS.ErrnoException) => answer({ id: request.id, code: error.code ?? 'UNKNOWN' }),
  );
});
// Without its parent nothing keeps the process, which then ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined); // the parent ends it
