import { statfs } from 'node:fs/promises';
import { Transform } from 'node:stream';

const GIB = 2 ** 30;
const FRESH_MS = 500;
const CHECK_EVERY = 8 << 20;

/** A write would use space reserved for the database, which shares the disk. */
export class DiskFull extends Error {}

export interface DiskSpace {
  /** Bytes. */
  free: number;
  total: number;
  /** With less free space only the database may write: 1 GiB, or 5 % of a small file system. */
  reserve: number;
  /** `low` begins at 5 GiB, or 10 % of a small file system, to leave time to react before it is `full`. */
  state: 'ok' | 'low' | 'full';
}

const looks = new Map<string, { at: number; space: Promise<DiskSpace> }>();

/** Space of the file system of `path`, at most half a second old. Rejects with the error of statfs(2). */
export async function spaceOf(path: string, now = performance.now()): Promise<DiskSpace> {
  const known = looks.get(path);
  if (known && now - known.at < FRESH_MS) return known.space;
  const space = statfs(path).then(({ bavail, blocks, bsize }) => judgeSpace(bavail * bsize, blocks * bsize));
  looks.set(path, { at: now, space });
  space.catch(() => looks.delete(path));
  return space;
}

/** State of a file system with `total` bytes, `free` of them free. */
export function judgeSpace(free: number, total: number): DiskSpace {
  const reserve = Math.min(GIB, total * 0.05);
  const low = Math.min(5 * GIB, total * 0.1);
  return { free, total, reserve, state: free < reserve ? 'full' : free < low ? 'low' : 'ok' };
}

/** Throws DiskFull if `bytes` more would use the reserve. If the space is unknown, the write itself decides. */
export async function requireSpace(path: string, bytes = 0): Promise<void> {
  const space = await spaceOf(path).catch(() => undefined);
  if (space && space.free - bytes < space.reserve) throw new DiskFull(`no space left on the disk of ${path}`);
}

/** Passes bytes on while the disk of `path` has space for them. */
export function whileSpace(path: string): Transform {
  let unchecked = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unchecked += chunk.length;
      if (unchecked < CHECK_EVERY) return done(null, chunk);
      unchecked = 0;
      requireSpace(path).then(
        () => done(null, chunk),
        (error: Error) => done(error),
      );
    },
  });
}

/** True for the error of a write when the disk or a quota is full; includes Postgres' own code. */
export function saysFull(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return error instanceof DiskFull || ['ENOSPC', 'EDQUOT', '53100', 'XMinioStorageFull'].includes(String(code));
}
