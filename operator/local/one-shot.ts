import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { killGroup } from './child.ts';
import type { Guarded } from './guard.ts';
import { closeLog, openLog } from './log-file.ts';

export interface OneShot {
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}

export interface OneShotSurroundings {
  logsDir: string;
  guard: { add(entry: Guarded): void; remove(group: number): void };
  /** Ends it early. */
  signal: AbortSignal;
}

/** Runs a process to its end with its output in a log. Returns the exit status; undefined when a signal ended it. */
export async function runOnce(job: OneShot, around: OneShotSurroundings): Promise<number | undefined> {
  const log = openLog(join(around.logsDir, `${job.name}.log`));
  const child = spawn(job.command, job.args, {
    cwd: job.cwd,
    env: job.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeLog(log);
  const group = child.pid;
  if (group === undefined) throw ((await once(child, 'error')) as [Error])[0];
  const end = (): void => killGroup(group, 'SIGKILL');
  around.guard.add({ group, signal: 'SIGTERM', last: 'SIGKILL' });
  around.signal.addEventListener('abort', end, { once: true });
  const [code] = (await once(child, 'exit')) as [number | null];
  around.signal.removeEventListener('abort', end);
  around.guard.remove(group);
  return code ?? undefined;
}
