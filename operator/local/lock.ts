// One operator per data directory. The lock is a hard link (created atomically) to a file that names its holder.
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson } from './files.ts';
import { identityOf, isAlive } from './process-identity.ts';

const Holder = z.object({ pid: z.int(), identity: z.string(), port: z.int(), startedAt: z.string() });
export type Holder = z.output<typeof Holder>;

export class AlreadyRunning extends Error {
  readonly holder: Holder;

  constructor(dir: string, holder: Holder) {
    super(
      `${dir} is in use by the process ${holder.pid}, running since ${holder.startedAt} on port ${holder.port}. ` +
        'Stop that one first, or give another --data.',
    );
    this.holder = holder;
  }
}

const place = (dir: string) => join(dir, 'run', 'operator.lock');

/** Undefined when a power cut left an incomplete file. */
function holderIn(file: string): Holder | undefined {
  try {
    return Holder.parse(readJson(file));
  } catch {
    return undefined;
  }
}

/** The current holder of the directory. */
export function holderOf(dir: string): Holder | undefined {
  const holder = holderIn(place(dir));
  return holder && isAlive(holder.pid, holder.identity) ? holder : undefined;
}

/** True when the last operator there was killed, so its children may still be running. */
export function wasKilled(dir: string): boolean {
  return existsSync(place(dir)) && !holderOf(dir);
}

/** Acquires the lock, also from a dead holder. Throws AlreadyRunning. Returns the function that releases it. */
export function takeLock(dir: string, port: number): () => void {
  mkdirSync(join(dir, 'run'), { recursive: true });
  const mine = join(dir, 'run', `operator.${process.pid}`);
  const identity = identityOf(process.pid) ?? '';
  const holder: Holder = { pid: process.pid, identity, port, startedAt: new Date().toISOString() };
  writeFileSync(mine, JSON.stringify(holder), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 5; attempt++) if (attemptLock(dir, mine)) return () => release(dir, identity);
    throw new Error(`${place(dir)} could not be acquired`);
  } finally {
    rmSync(mine, { force: true });
  }
}

function attemptLock(dir: string, mine: string): boolean {
  try {
    linkSync(mine, place(dir));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = holderOf(dir);
  if (holder) throw new AlreadyRunning(dir, holder);
  setAside(dir);
  return false;
}

/** Removes the lock of a dead holder. Two operators may do this at once: one that moved the other's new lock puts it back. */
export function setAside(dir: string): void {
  const aside = `${place(dir)}.${process.pid}`;
  try {
    renameSync(place(dir), aside);
  } catch {
    return;
  }
  const moved = holderIn(aside);
  if (moved && isAlive(moved.pid, moved.identity)) linkSync(aside, place(dir));
  rmSync(aside, { force: true });
}

function release(dir: string, identity: string): void {
  if (holderOf(dir)?.identity === identity) rmSync(place(dir), { force: true });
}
