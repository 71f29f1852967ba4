// Reasons why the server will never become ready. Pure, except for reading the last line of a log.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { Health, Observed, ObservedProcess } from './verdicts.ts';

/** A store that the operator does not run may start later. */
const PATIENCE_MS = 60_000;
const MOST_RESTARTS = 3;
const LINE = 300;

/** Postgres or Redis is unavailable, and the server cannot become ready without user action. */
export class CannotStart extends Error {}

export interface Start {
  /** Milliseconds since both stores last answered, or since the operator started. */
  sinceMs: number;
  /** The spec determines which stores the operator runs itself; those may recover for as long as they need. */
  spec: Pick<MediaServerSpec, 'postgres' | 'redis'>;
  logsDir: string;
}

/** A message for people, or undefined while the server may still become ready. */
export function whyNoStart(
  { database, redis, processes }: Pick<Observed, 'database' | 'redis' | 'processes'>,
  start: Start,
): string | undefined {
  const stores = processes.filter(({ role }) => role === 'postgres' || role === 'redis');
  const failing = stores.find(({ state, restarts }) => state === 'backoff' && restarts >= MOST_RESTARTS);
  if (failing) return storeFault(failing, start.logsDir);
  if (start.sinceMs < PATIENCE_MS) return undefined;
  const external = {
    database: start.spec.postgres.secretRef ? database : true,
    redis: start.spec.redis.secretRef ? redis : true,
  } as const;
  return silence('Postgres', external.database) ?? silence('Redis', external.redis);
}

const silence = (name: string, health: Health): string | undefined =>
  health === true || /starting up|recovery/.test(health)
    ? undefined
    : `${name} does not answer after a minute: ${health}`;

function storeFault({ name, lastEnd }: ObservedProcess, logsDir: string): string {
  const log = join(logsDir, `${name}.log`);
  return `${name} cannot be started (${lastEnd}): ${lastLine(log) ?? 'it says nothing'} (${log})`;
}

function lastLine(log: string): string | undefined {
  try {
    return readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)?.slice(0, LINE);
  } catch {
    return undefined;
  }
}
