import { findHeldItem } from '#areas/items/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { freeTranscoders, stopTranscodeSessions } from '#areas/streaming/public.ts';
import { isBroadcast, lockSession, type SessionRow, stopSession } from '#areas/viewing/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { recordPosition } from '../progress/progress.ts';
import { emitState } from '../progress/state-event.ts';
import { standsAt } from './report.ts';
import { withinFile } from './start.ts';

interface Ending {
  positionMs?: number | undefined;
  message?: string | undefined;
}

/** Ends the caller's own session, or any with session:manage. Idempotent; frees the transcode immediately. */
export async function end(call: Call, id: string, ending: Ending): Promise<void> {
  const row = await lockSession(call.db, id);
  if (row?.account_id === call.who.accountId) return endOwn(call, row, ending);
  if (!row || !may(call.who, 'session:manage')) throw notFound();
  if (await stop(call, row, { reason: 'ended-by-admin' })) await notifyEnded(call, row, ending.message);
}

/** Notifies the user whose session an admin ended. */
async function notifyEnded({ db, who }: Call, row: SessionRow, message: string | undefined): Promise<void> {
  const item = await db('items').where({ id: row.item_id }).first('title');
  await notify(db, {
    kind: 'session-ended',
    to: { profileIds: [row.profile_id] },
    target: { kind: 'item', id: row.item_id },
    itemId: row.item_id,
    actorId: who.accountId,
    data: { ...(item && { name: item.title }), ...(message && { message }) },
  });
}

async function endOwn(call: Call, row: SessionRow, { positionMs, message }: Ending): Promise<void> {
  if (message) throw invalid(['query', 'message'], 'not_allowed', "only for another's session");
  const isNew =
    positionMs !== undefined && !standsAt(row, withinFile(positionMs, { durationMs: row.duration_ms ?? 0 }));
  if (row.state !== 'stopped' && isNew && !isBroadcast(row)) await keepPosition(call, row, positionMs);
  await stop(call, row, { reason: 'client', positionMs });
}

/** False when the session had already stopped. */
async function stop(call: Call, row: SessionRow, why: Parameters<typeof stopSession>[2]): Promise<boolean> {
  const { db, deps } = call;
  const stopped = await stopSession(db, row.id, why);
  const freed = await stopTranscodeSessions(db, row.id);
  call.afterCommit(() => freeTranscoders(deps.redis, freed));
  return stopped !== undefined;
}

async function keepPosition(call: Call, row: SessionRow, positionMs: number): Promise<void> {
  const item = await findHeldItem(call.db, call.who, row.item_id);
  if (!item) return; // a hidden item keeps no position
  const durationMs = row.duration_ms ?? item.runtimeMs ?? 0;
  const mayCount = !row.counted_play;
  await recordPosition(call, {
    item,
    positionMs,
    durationMs,
    fileId: row.file_id,
    at: call.now,
    mayCount,
    ofFile: true,
    profileId: row.profile_id,
  });
  await emitState(call, { what: ['progress', 'watched'], itemIds: [item.id], profileId: row.profile_id });
}
