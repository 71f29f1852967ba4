// Processes of an operator that was killed: ended before the next one starts its own.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { killGroup } from './child.ts';
import { readJson, writeWhole } from './files.ts';
import { isAlive } from './process-identity.ts';

const Entry = z.object({ name: z.string(), pid: z.int(), identity: z.string(), signal: z.string(), last: z.string() });
export type Entry = z.output<typeof Entry>;

const place = (dir: string) => join(dir, 'run', 'children.json');
const STEP_MS = 50;

export function rememberChildren(dir: string, entries: readonly Entry[]): void {
  writeWhole(place(dir), JSON.stringify(entries));
}

/** Asks the left-over processes to end, then forces those that did not within `graceMs`. Names of those found. */
export async function endOrphans(dir: string, graceMs = 5000): Promise<string[]> {
  const parsed = z.array(Entry).safeParse(safely(() => readJson(place(dir))) ?? []);
  const alive = (entry: Entry): boolean => isAlive(entry.pid, entry.identity);
  const found = (parsed.success ? parsed.data : []).filter(alive);
  for (const entry of found) killGroup(entry.pid, entry.signal as NodeJS.Signals);
  for (let waited = 0; waited < graceMs && found.some(alive); waited += STEP_MS) await sleep(STEP_MS);
  for (const entry of found.filter(alive)) killGroup(entry.pid, entry.last as NodeJS.Signals);
  // What hangs in the kernel, on a share that is away, ends when that lets go; nobody waits for it.
  for (let waited = 0; waited < graceMs && found.some(alive); waited += STEP_MS) await sleep(STEP_MS);
  return found.map((entry) => entry.name);
}

/** A postmaster of this data folder that no list names any more. Its file is left fit for the next one. */
export async function endPostmaster(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const text = safely(() => readFileSync(file, 'utf8'));
  if (text === undefined) return;
  const [first, ...rest] = text.split('\n');
  const pid = Number(first);
  const ours = (): boolean => {
    const command = safely(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
    return pid > 1 && Array.isArray(command) && command.includes(dataDir);
  };
  if (ours()) process.kill(pid, 'SIGINT'); // fast shutdown
  for (let attempt = 0; attempt < 200 && ours(); attempt++) await sleep(STEP_MS);
  // After a power cut the pid may be another's now, and Postgres would take that for a postmaster. It knows its own parent for
  // none; what the file says of shared memory stays, so that it still finds backends that live on.
  if (existsSync(file) && !ours()) writeFileSync(file, [process.pid, ...rest].join('\n'), { flag: 'r+' });
}

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
