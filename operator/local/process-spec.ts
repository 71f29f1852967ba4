import { createHash } from 'node:crypto';

export type Role = 'postgres' | 'redis' | 'api' | 'worker' | 'transcode' | 'tuner' | 'restore';

/** A process that ought to run; plain data, equal specs need no restart. */
export interface ProcessSpec {
  name: string;
  role: Role;
  command: string;
  args: string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  /** Told at a start too, but no reason for one: such as how many others there are. */
  hints?: Record<string, string>;
  /** Listens on a port of its own, a free one at each start, told as FOYER_PORT. */
  ownPort?: boolean;
  cwd: string;
  uid?: number;
  gid?: number;
  stopSignal: NodeJS.Signals;
  /** Between the stop signal and SIGKILL (SIGQUIT for Postgres). */
  graceMs: number;
  /** Another of the same name may run beside it for a while, so that a replacement leaves no gap. */
  overlaps: boolean;
}

export function specHash(spec: ProcessSpec): string {
  const { hints: _hints, ...rest } = spec;
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}

export type Action = { do: 'start' | 'replace'; spec: ProcessSpec } | { do: 'stop'; name: string };

/** What leads from the processes that run (name to hash) to those of `roles` that ought to; others are left alone. */
export function plan(
  desired: readonly ProcessSpec[],
  running: ReadonlyMap<string, { role: Role; hash: string }>,
  roles: readonly Role[],
): Action[] {
  const wanted = new Set(desired.map((spec) => spec.name));
  const gone = [...running].filter(([name, { role }]) => roles.includes(role) && !wanted.has(name));
  const stops = gone.map(([name]): Action => ({ do: 'stop', name }));
  const starts = desired.flatMap((spec): Action[] => {
    const now = running.get(spec.name);
    if (!now) return [{ do: 'start', spec }];
    return now.hash === specHash(spec) ? [] : [{ do: 'replace', spec }];
  });
  return [...stops, ...starts];
}
