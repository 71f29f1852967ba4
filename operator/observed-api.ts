// How the server's API answers, for operators of a cluster and of one machine.
import { backupFrom, type ObservedBackup } from './backup-verdict.ts';
import type { Ask } from './server-api/server-client.ts';

export interface ObservedApi {
  apiReady: boolean;
  /** Undefined while it is not known. */
  setupComplete: boolean | undefined;
  version: string | undefined;
  /** Check name to state, as GET /server/health says. */
  health: Record<string, string>;
  /** No claim code is taken until then: too many were tried. */
  claimBlockedUntil?: string;
  /** A restore is on record, or keeps the server closed; absent while nobody says. */
  restoring?: boolean;
  /** Absent while nobody says. */
  backup?: ObservedBackup;
}

export const apiUnavailable: ObservedApi = {
  apiReady: false,
  setupComplete: undefined,
  version: undefined,
  health: {},
};

const READY_ATTEMPTS = 8;

export async function seeApi(ask: Ask): Promise<ObservedApi> {
  try {
    const waitingFor = await waitOf(ask);
    if (waitingFor !== undefined)
      return waitingFor === 'restore' ? { ...apiUnavailable, restoring: true } : apiUnavailable;
    const [info, health, backups, kept] = await Promise.all([
      ask('GET', '/server/info'),
      ask('GET', '/server/health'),
      ask('GET', '/backups?limit=1'),
      ask('GET', '/backups/settings'),
    ]);
    const { setupComplete, version } = saidOf(info.body);
    const claimBlockedUntil = setupComplete === false ? await blockOf(ask) : undefined;
    const block = claimBlockedUntil === undefined ? {} : { claimBlockedUntil };
    const restoring = isUnderWay(backups.body);
    const backup = backupFrom(kept.body, backups.body);
    const more = { ...block, ...restoring, ...(backup && { backup }) };
    return { apiReady: true, setupComplete, version, health: checksOf(health.body), ...more };
  } catch {
    return apiUnavailable;
  }
}

interface Said {
  setupComplete?: boolean;
  version?: string;
}

/** Without the version where it is the short one of strangers: its database was too slow to know who asks. */
function saidOf(body: unknown): Said {
  const { setupComplete, version } = (body ?? {}) as Said;
  const isWhole = /^\d+\.\d+\.\d/.test(version ?? '');
  return { ...(setupComplete !== undefined && { setupComplete }), ...(isWhole && version && { version }) };
}

async function blockOf(ask: Ask): Promise<string | undefined> {
  const { body } = await ask('GET', '/setup/claim');
  return (body as { blockedUntil?: string | null } | undefined)?.blockedUntil ?? undefined;
}

/** Of `restore` in the list of backups; nothing when it was refused, as by a version without it. */
function isUnderWay(body: unknown): { restoring?: boolean } {
  const { items, restore } = (body ?? {}) as { items?: unknown; restore?: { state: string } };
  if (!items) return {};
  return { restoring: restore?.state === 'preparing' || restore?.state === 'switching' };
}

/** What it still waits for. A process that leaves still takes connections for a while, and says so: another one is asked. */
async function waitOf(ask: Ask): Promise<string | undefined> {
  for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
    const { status, body } = await ask('GET', '/server/ready');
    if (status === 200) return undefined;
    const { waitingFor = 'unknown' } =
      (body as { error?: { details?: { waitingFor?: string } } } | undefined)?.error?.details ?? {};
    if (waitingFor !== 'draining') return waitingFor;
  }
  return 'draining';
}

/** An unavailable server tells its checks in the details of the error. */
function checksOf(body: unknown): Record<string, string> {
  const { checks, error } = (body ?? {}) as { checks?: Check[]; error?: { details?: { checks?: Check[] } } };
  return Object.fromEntries((checks ?? error?.details?.checks ?? []).map(({ name, state }) => [name, state]));
}

interface Check {
  name: string;
  state: string;
}
