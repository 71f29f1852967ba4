import type { Deps } from '#kernel/endpoint.ts';
import { restoring } from '#platform/fence.ts';
import type { ServerHealth } from './server.schemas.ts';

type Waiting = 'schema' | 'database' | 'restore' | 'draining';

/** Why this process does not accept requests; a store that no replica can reach is no reason. */
export function notReadyFor({
  vitals,
  draining,
  config,
}: Pick<Deps, 'vitals' | 'draining' | 'config'>): Waiting | undefined {
  if (draining.aborted) return 'draining';
  if (restoring(config.databaseUrl) !== undefined) return 'restore';
  if (!vitals.databaseReached() || vitals.cutOff()) return 'database';
  return vitals.schemaCurrent() ? undefined : 'schema';
}

/** Details of the refusal while the process is not ready. */
export const waitDetails = ({ config }: Pick<Deps, 'config'>, waitingFor: Waiting): WaitDetails =>
  waitingFor === 'restore' ? { waitingFor, progress: restoring(config.databaseUrl) ?? 0 } : { waitingFor };

interface WaitDetails {
  waitingFor: Waiting;
  /** Progress of a restore, 0-1. */
  progress?: number;
}

const CHECKS = ['database', 'redis', 'objects', 'queue', 'transcode', 'subtitles', 'storage', 'mail', 'keys'] as const;
/** Checks that do not degrade the server. */
const APART: readonly string[] = ['subtitles', 'mail', 'keys'];

/** Unavailable without Postgres, degraded without any other component except subtitles, mail and keys. Read from memory. */
export function healthOf({ vitals }: Pick<Deps, 'vitals'>, now: Date): ServerHealth {
  const checks = CHECKS.map((name) => ({ name, state: vitals.state(name) }));
  const degraded = checks.some(
    ({ name, state }) => !APART.includes(name) && (state === 'degraded' || state === 'down'),
  );
  const status = vitals.state('database') === 'down' ? 'unavailable' : degraded ? 'degraded' : 'ok';
  return { status, checks, time: now.toISOString() };
}
