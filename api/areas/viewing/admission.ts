import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';

/** 403 for an account that plays at home only, when it asks from elsewhere. */
export function refuseFromAway({ who, client }: Pick<Call, 'who' | 'client'>): void {
  if (who.limits.remote !== false || client.local) return;
  throw new ApiError('FORBIDDEN', 'This account plays at home only', { by: 'remote' });
}

export interface AdmissionRequest {
  deviceId: string | undefined;
  /** This session takes the place of that one. */
  replaces?: string | undefined;
  encodes: boolean;
  /** `playback.maxStreams`; null is none. */
  serverCap: number | null;
}

/**
 * A place for one more stream, or 429. Counted under a lock held to the end of the transaction, so that two pods cannot
 * both give the last place. Answers the sessions that the new one replaces: the one named, and those that the same
 * device opened within the last 5 seconds.
 */
export async function takePlace(db: Db, who: Principal, ask: AdmissionRequest): Promise<string[]> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('viewing'), ?)`, [
    ask.serverCap === null ? keyOf(who.accountId) : 0,
  ]);
  const open = await db('playback_sessions')
    .whereNot({ state: 'stopped' })
    .where((either) => {
      either.where({ account_id: who.accountId });
      if (ask.serverCap !== null) either.orWhereRaw('true');
    })
    .select<{ id: string; account_id: string; device_id: string | null; encodes: boolean; fresh: boolean }[]>(
      'id',
      'account_id',
      'device_id',
      'encodes',
      db.raw(`started_at > now() - interval '5 seconds' as fresh`),
    );
  const replaced = open.filter((one) => {
    const again = one.fresh && one.device_id !== null && one.device_id === ask.deviceId;
    return one.account_id === who.accountId && (one.id === ask.replaces || again);
  });
  const ids = new Set(replaced.map((one) => one.id));
  const left = open.filter((one) => !ids.has(one.id));
  const own = left.filter((one) => one.account_id === who.accountId);
  refuseOver('account', who.limits.streams, own.length);
  refuseOver('server', ask.serverCap ?? undefined, left.length);
  if (ask.encodes) refuseOver('transcodes', who.limits.transcodes, own.filter((one) => one.encodes).length);
  return [...ids];
}

function refuseOver(scope: 'account' | 'server' | 'transcodes', cap: number | undefined, active: number): void {
  if (cap === undefined || active < cap) return;
  throw new ApiError('STREAM_LIMIT_REACHED', 'No more streams at once', { cap, active, scope });
}

function keyOf(accountId: string): number {
  return Number.parseInt(accountId.replaceAll('-', '').slice(-7), 16);
}
