// What keeps the server from ever getting ready. Pure, but for the last line of a log.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health, Seen, SeenProcess } from './verdicts.ts';

/** A store that somebody else runs may come up after us. */
const PATIENCE_MS = 60_000;
const MOST_RESTARTS = 3;
const LINE = 300;

/** Postgres or Redis cannot be had, so the server will not get ready by itself. */
export class CannotStart extends Error {}

export interface Start {
  /** Since the operator began, ms. */
  sinceMs: number;
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
  return silence('Postgres', database) ?? silence('Redis', redis);
}

const silence = (name: string, health: Health): string | undefined =>
  health === true ? undefined : `${name} does not answer after a minute: ${health}`;

function storeFault({ name, lastEnd }: SeenProcess, logsDir: string): string {
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
