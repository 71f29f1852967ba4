// Processes of a killed operator are ended before the next operator starts its own.
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

/** Stops the remaining processes, and kills those that did not end within `graceMs`. Returns the names of those found. */
export async function endOrphans(dir: string, graceMs = 5000): Promise<string[]> {
  const parsed = z.array(Entry).safeParse(safely(() => readJson(place(dir))) ?? []);
  const alive = (entry: Entry): boolean => isAlive(entry.pid, entry.identity);
  const found = (parsed.success ? parsed.data : []).filter(alive);
  for (const entry of found) killGroup(entry.pid, entry.signal as NodeJS.Signals);
  for (let waited = 0; waited < graceMs && found.some(alive); waited += STEP_MS) await sleep(STEP_MS);
  for (const entry of found.filter(alive)) killGroup(entry.pid, entry.last as NodeJS.Signals);
  // A process that hangs in the kernel, on an unavailable share, ends when the kernel releases it; there is no need to wait.
  for (let waited = 0; waited < graceMs && found.some(alive); waited += STEP_MS) await sleep(STEP_MS);
  return found.map((entry) => entry.name);
}

/** Ends a postmaster of this data folder that is not recorded, and leaves its file in a state that the next one accepts. */
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
  // After a power cut the pid may belong to another process, which Postgres would take for a postmaster. Postgres ignores the
  // pid of its own parent. The shared memory entries stay, so that it still finds remaining backends.
  if (existsSync(file) && !ours()) writeFileSync(file, [process.pid, ...rest].join('\n'), { flag: 'r+' });
}

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
