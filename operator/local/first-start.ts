// What keeps the server from ever getting ready. Pure, but for the last line of a log.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { Health, ObservedProcess, Seen } from './verdicts.ts';

/** A store that somebody else runs may come up after us. */
const PATIENCE_MS = 60_000;
const MOST_RESTARTS = 3;
const LINE = 300;

/** Postgres or Redis cannot be had, so the server will not get ready by itself. */
export class CannotStart extends Error {}

export interface Start {
  /** Since both stores answered last, or since the operator began, ms. */
  sinceMs: number;
  /** Says which stores the operator runs itself: those may recover for as long as they need. */
  spec: Pick<MediaServerSpec, 'postgres' | 'redis'>;
  logsDir: string;
}

/** The sentence for people, or undefined while the server may still get ready. */
export function whyNoStart(
  { database, redis, processes }: Pick<Seen, 'database' | 'redis' | 'processes'>,
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
