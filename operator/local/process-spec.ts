import { createHash } from 'node:crypto';

export type Role = 'postgres' | 'redis' | 'api' | 'worker' | 'transcode' | 'speech' | 'tuner' | 'restore';

/** A desired process. Plain data: equal specs need no restart. */
export interface ProcessSpec {
  name: string;
  role: Role;
  command: string;
  args: string[];
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  /** Also passed at a start, but a change needs no restart, such as the number of other processes. */
  hints?: Record<string, string>;
  /** Listens on its own port, a free one at each start, passed as FOYER_PORT. */
  ownPort?: boolean;
  cwd: string;
  uid?: number;
  gid?: number;
  stopSignal: NodeJS.Signals;
  /** Between the stop signal and SIGKILL (SIGQUIT for Postgres). */
  graceMs: number;
  /** A replacement may run concurrently for a while, so that there is no gap. */
  overlaps: boolean;
}

export function specHash(spec: ProcessSpec): string {
  const { hints: _hints, ...rest } = spec;
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex');
}

export type Action = { do: 'start' | 'replace'; spec: ProcessSpec } | { do: 'stop'; name: string };

/**
 * The actions that lead from the running processes (name to hash) to the desired ones of `roles`. Other roles are not
 * changed.
 */
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
