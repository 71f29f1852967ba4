// Puts bytes under a name next to media, never over a file of somebody else.
import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A larger file was not written by Foyer. */
const MOST_BYTES = 64 << 20;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The present content of a name: nothing, a file by its hash, or something that is never replaced. */
type Present = { kind: 'none' } | { kind: 'file'; sha256: string; size: number } | { kind: 'other' };

async function presentAt(path: string): Promise<Present> {
  const found = await lstat(path).catch(absent);
  if (!found) return { kind: 'none' };
  if (!found.isFile() || found.size > MOST_BYTES) return { kind: 'other' };
  const bytes = await readFile(path).catch(absent);
  return bytes ? { kind: 'file', sha256: sha256Of(bytes), size: bytes.length } : { kind: 'none' };
}

function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

export interface Placing {
  /** Absolute. */
  directory: string;
  name: string;
  bytes: Buffer;
  /** Whether Foyer wrote the bytes with this hash. */
  isOwn: (sha256: string) => Promise<boolean>;
  /** Notes the bytes right before they appear under the name. */
  announce: () => Promise<void>;
}

/** `foreign`: another file is there and stays as it is. `modifiedMs` is the time of the written file. */
export type Placed = { kind: 'written' | 'same'; modifiedMs: number } | { kind: 'foreign' };

/** Writes a file whole or not at all: under a hidden name first, then under its own. */
export async function placeFile(placing: Placing): Promise<Placed> {
  const { directory, name, bytes, isOwn, announce } = placing;
  const path = join(directory, name);
  const before = await presentAt(path);
  if (!(await mayReplace(before, isOwn))) return { kind: 'foreign' };
  if (before.kind === 'file' && before.sha256 === sha256Of(bytes))
    return { kind: 'same', modifiedMs: (await stat(path)).mtimeMs };
  const hidden = join(directory, `.foyer-${randomUUID()}.tmp`);
  try {
    await writeWhole(hidden, bytes);
    await announce();
    const done = before.kind === 'none' ? await appear(hidden, path) : await replace(hidden, path, before);
    if (!done) return { kind: 'foreign' };
    await synced(directory);
    return { kind: 'written', modifiedMs: (await stat(path)).mtimeMs };
  } finally {
    await rm(hidden, { force: true });
  }
}

async function mayReplace(present: Present, isOwn: Placing['isOwn']): Promise<boolean> {
  if (present.kind === 'file') return isOwn(present.sha256);
  return present.kind === 'none';
}

async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o664);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Errors of file systems without hard links. */
const LINKLESS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/** Gives the file its name, unless one appeared there meanwhile. */
async function appear(hidden: string, path: string): Promise<boolean> {
  try {
    await link(hidden, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!LINKLESS.has(codeOf(error))) throw error;
  }
  return reserve(hidden, path);
}

/** An empty file holds the name until the written one takes its place. */
async function reserve(hidden: string, path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o664)).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  await rename(hidden, path);
  return true;
}

/** Replaces an own file, unless it changed since it was looked at. */
async function replace(hidden: string, path: string, before: Present): Promise<boolean> {
  const now = await presentAt(path);
  if (now.kind === 'none') return appear(hidden, path);
  if (now.kind !== 'file' || before.kind !== 'file' || now.sha256 !== before.sha256) return false;
  await rename(hidden, path);
  return true;
}

/** The hash of a plain file; undefined for anything else, and for a file that is larger than Foyer writes. */
export async function hashAt(path: string): Promise<string | undefined> {
  const present = await presentAt(path);
  return present.kind === 'file' ? present.sha256 : undefined;
}

/** Removes a file that still has these bytes. Returns whether it did. */
export async function removeFile(path: string, sha256: string): Promise<boolean> {
  const before = await lstat(path).catch(absent);
  if (!before || (await hashAt(path)) !== sha256) return false;
  const now = await lstat(path).catch(absent);
  if (now?.ino !== before.ino || now.mtimeMs !== before.mtimeMs || now.size !== before.size) return false;
  await rm(path);
  await synced(dirname(path));
  return true;
}

const HIDDEN = /^\.foyer-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;
/** Far longer than any file takes to be written. */
const LEFT_MS = 600_000;

/** Removes hidden files that a killed process left in a directory. */
export async function sweepHidden(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names.filter((one) => HIDDEN.test(one))) {
    const path = join(directory, name);
    const found = await lstat(path).catch(absent);
    if (found?.isFile() && Date.now() - found.mtimeMs > LEFT_MS) await rm(path, { force: true });
  }
}

/** Not every file system can have a directory written to the disk at once. */
async function synced(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
