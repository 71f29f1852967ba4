// The state of the server's API, for clusters and for one machine.
import { backupFrom, type ObservedBackup } from './backup-verdict.ts';
import type { SendRequest } from './server-api/server-client.ts';

export interface ObservedApi {
  apiReady: boolean;
  /** Undefined while unknown. */
  setupComplete: boolean | undefined;
  version: string | undefined;
  /** State by name of the check, from GET /server/health. */
  health: Record<string, string>;
  /** Until then no claim code is accepted, because too many were tried. */
  claimBlockedUntil?: string;
  /** A restore is recorded, or keeps the server closed; absent while unknown. */
  restoring?: boolean;
  /** Absent while unknown. */
  backup?: ObservedBackup;
}

export const apiUnavailable: ObservedApi = {
  apiReady: false,
  setupComplete: undefined,
  version: undefined,
  health: {},
};

const READY_ATTEMPTS = 8;

export async function observeApi(request: SendRequest): Promise<ObservedApi> {
  try {
    const waitingFor = await waitOf(request);
    if (waitingFor !== undefined)
      return waitingFor === 'restore' ? { ...apiUnavailable, restoring: true } : apiUnavailable;
    const [info, health, backups, kept] = await Promise.all([
      request('GET', '/server/info'),
      request('GET', '/server/health'),
      request('GET', '/backups?limit=1'),
      request('GET', '/backups/settings'),
    ]);
    const { setupComplete, version } = infoOf(info.body);
    const claimBlockedUntil = setupComplete === false ? await blockOf(request) : undefined;
    const block = claimBlockedUntil === undefined ? {} : { claimBlockedUntil };
    const restoring = isUnderWay(backups.body);
    const backup = backupFrom(kept.body, backups.body);
    const more = { ...block, ...restoring, ...(backup && { backup }) };
    return { apiReady: true, setupComplete, version, health: checksOf(health.body), ...more };
  } catch {
    return apiUnavailable;
  }
}

interface Info {
  setupComplete?: boolean;
  version?: string;
}

/**
 * Omits the shortened version that the server sends to unauthenticated clients, as it does when its database is too slow to
 * authenticate the operator.
 */
function infoOf(body: unknown): Info {
  const { setupComplete, version } = (body ?? {}) as Info;
  const isWhole = /^\d+\.\d+\.\d/.test(version ?? '');
  return { ...(setupComplete !== undefined && { setupComplete }), ...(isWhole && version && { version }) };
}

async function blockOf(request: SendRequest): Promise<string | undefined> {
  const { body } = await request('GET', '/setup/claim');
  return (body as { blockedUntil?: string | null } | undefined)?.blockedUntil ?? undefined;
}

/** From `restore` in the list of backups; absent when the list was refused, as by a version without it. */
function isUnderWay(body: unknown): { restoring?: boolean } {
  const { items, restore } = (body ?? {}) as { items?: unknown; restore?: { state: string } };
  if (!items) return {};
  return { restoring: restore?.state === 'preparing' || restore?.state === 'switching' };
}

/**
 * The dependency that the server still waits for; undefined when it is ready. A draining process still accepts connections,
 * so the request is repeated to reach another one.
 */
async function waitOf(request: SendRequest): Promise<string | undefined> {
  for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
    const { status, body } = await request('GET', '/server/ready');
    if (status === 200) return undefined;
    const { waitingFor = 'unknown' } =
      (body as { error?: { details?: { waitingFor?: string } } } | undefined)?.error?.details ?? {};
    if (waitingFor !== 'draining') return waitingFor;
  }
  return 'draining';
}

/** An unavailable server reports its checks in the details of the error. */
function checksOf(body: unknown): Record<string, string> {
  const { checks, error } = (body ?? {}) as { checks?: Check[]; error?: { details?: { checks?: Check[] } } };
  return Object.fromEntries((checks ?? error?.details?.checks ?? []).map(({ name, state }) => [name, state]));
}

interface Check {
  name: string;
  state: string;
}
