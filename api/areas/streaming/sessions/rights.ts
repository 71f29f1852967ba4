import { getVisibleItem } from '#areas/items/public.ts';
import { touchBytes } from '#areas/viewing/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { withoutFail } from '#platform/redis.ts';
import { findSession, type SessionRow, touchSession } from './sessions.store.ts';

const REMEMBER_SEC = 60;

/** The caller's own open session, with rights checked at most 60 seconds ago. Throws 404 in all other cases. */
export async function getOwnSession(call: Call, id: string): Promise<SessionRow> {
  const row = await findSession(call.db, id);
  if (!row || row.account_id !== call.who.accountId || row.stopped_at) throw notFound();
  await judgeItem(call, row.item_id);
  await Promise.all([touchSession(call.db, id), touchBytes(call.db, row.playback_session_id)]);
  return row;
}

/** As getOwnSession, or any session with session:manage. Stopped sessions are readable for an hour. */
export async function getManagedSession(call: Call, id: string): Promise<SessionRow> {
  const row = await findSession(call.db, id);
  const mine = row?.account_id === call.who.accountId || may(call.who, 'session:manage');
  if (!row || !mine) throw notFound();
  if (row.stopped_at && call.now.getTime() - row.stopped_at.getTime() > 3_600_000) throw notFound();
  return row;
}

/**
 * Throws 404 for an item that the caller may no longer see. Only a positive result is cached. The session itself ends
 * when rights change.
 */
export async function judgeItem(call: Call, itemId: string): Promise<void> {
  const { redis } = call.deps;
  const { accountId, profileId, sees } = call.who;
  const key = `foyer:stream:right:${accountId}:${profileId}:${itemId}:${JSON.stringify(sees.labels ?? null)}`;
  if (await withoutFail(() => redis.exists(key), 0)) return;
  await getVisibleItem(call.db, call.who, itemId);
  await withoutFail(() => redis.set(key, '1', 'EX', REMEMBER_SEC), null);
}
