import { getVisibleItem } from '#areas/items/public.ts';
import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { lockSession, type SessionRow, stopSession } from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid, notFound } from '#kernel/errors.ts';
import { may } from '#kernel/principal.ts';
import { recordPosition } from './progress.ts';

interface Ending {
  positionMs?: number | undefined;
  message?: string | undefined;
}

/** One's own session, or with session:manage anyone's. Idempotent; the transcode is freed at once. */
export async function end(call: Call, id: string, ending: Ending): Promise<void> {
  const row = await lockSession(call.db, id);
  if (row?.account_id === call.who.accountId) return endOwn(call, row, ending);
  if (!row || !may(call.who, 'session:manage')) throw notFound();
  await stop(call, row, { reason: 'ended-by-admin' });
}

async function endOwn(call: Call, row: SessionRow, { positionMs, message }: Ending): Promise<void> {
  if (message) throw invalid(['query', 'message'], 'not_allowed', "only for another's session");
  if (row.state !== 'stopped' && positionMs !== undefined) await keepPosition(call, row, positionMs);
  await stop(call, row, { reason: 'client', positionMs });
}

async function stop({ db }: Call, row: SessionRow, why: Parameters<typeof stopSession>[2]): Promise<void> {
  await stopSession(db, row.id, why);
  await stopTranscodeSessions(db, row.id);
}

async function keepPosition(call: Call, row: SessionRow, positionMs: number): Promise<void> {
  const item = await getVisibleItem(call.db, call.who, row.item_id);
  const durationMs = row.duration_ms ?? item.runtimeMs ?? 0;
  const mayCount = !row.counted_play;
  await recordPosition(call, { item, positionMs, durationMs, fileId: row.file_id, at: call.now, mayCount });
}
