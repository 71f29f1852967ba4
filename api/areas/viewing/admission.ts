import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';

/** 403 for a remote request of an account that plays at home only. */
export function refuseRemote({ who, client }: Pick<Call, 'who' | 'client'>): void {
  if (who.limits.remote !== false || client.local) return;
  throw new ApiError('FORBIDDEN', 'This account plays at home only', { by: 'remote' });
}

export interface AdmissionRequest {
  deviceId: string | undefined;
  /** The session that the new one replaces. */
  replaces?: string | undefined;
  encodes: boolean;
  /** `playback.maxStreams`; null is unlimited. */
  serverCap: number | null;
}

/**
 * Admits one more stream, or throws 429. Counts under a lock until the transaction ends, so that two pods cannot both admit
 * the last stream. Returns the sessions that the new one replaces: the named one, and those that the same
 * device opened within the last 5 seconds.
 */
export async function takePlace(db: Db, who: Principal, request: AdmissionRequest): Promise<string[]> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('viewing'), ?)`, [
    request.serverCap === null ? keyOf(who.accountId) : 0,
  ]);
  const open = await db('playback_sessions')
    .whereNot({ state: 'stopped' })
    .where((either) => {
      either.where({ account_id: who.accountId });
      if (request.serverCap !== null) either.orWhereRaw('true');
    })
    .select<{ id: string; account_id: string; device_id: string | null; encodes: boolean; fresh: boolean }[]>(
      'id',
      'account_id',
      'device_id',
      'encodes',
      db.raw(`started_at > now() - interval '5 seconds' as fresh`),
    );
  const replaced = open.filter((one) => {
    const again = one.fresh && one.device_id !== null && one.device_id === request.deviceId;
    return one.account_id === who.accountId && (one.id === request.replaces || again);
  });
  const ids = new Set(replaced.map((one) => one.id));
  const left = open.filter((one) => !ids.has(one.id));
  const own = left.filter((one) => one.account_id === who.accountId);
  refuseOver('account', who.limits.streams, own.length);
  refuseOver('server', request.serverCap ?? undefined, left.length);
  if (request.encodes) refuseOver('transcodes', who.limits.transcodes, own.filter((one) => one.encodes).length);
  return [...ids];
}

function refuseOver(scope: 'account' | 'server' | 'transcodes', cap: number | undefined, active: number): void {
  if (cap === undefined || active < cap) return;
  throw new ApiError('STREAM_LIMIT_REACHED', 'No more streams at once', { cap, active, scope });
}

function keyOf(accountId: string): number {
  return Number.parseInt(accountId.replaceAll('-', '').slice(-7), 16);
}
