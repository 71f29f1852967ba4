import type { z } from 'zod';
import { getVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { newId } from '#platform/ids.ts';
import { SetReading, type Synced, type SyncReport } from './progress.schemas.ts';
import { findState, leavesOf, markLeaves, unmarkLeaves } from './progress.store.ts';
import { isTimed, recordPosition, refuseStrangeFile } from './progress.ts';
import { setReading } from './reading.ts';

type Result = z.input<typeof Synced>['results'][number];

const HISTORY_FROM_MS = 60_000;
/** Of one report: a show or an album. */
const MOST_MARKED = 20_000;

/** Every report stands alone, in the order sent; a bad one does not fail the rest. */
export async function sync(call: Call, reports: readonly SyncReport[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const report of reports)
    results.push({ clientEventId: report.clientEventId, outcome: await apply(call, report) });
  return results;
}

async function apply(call: Call, report: SyncReport): Promise<Result['outcome']> {
  const { db, who } = call;
  const [fresh] = await db('playback_synced')
    .insert({ profile_id: who.profileId, client_event_id: report.clientEventId })
    .onConflict(['profile_id', 'client_event_id'])
    .ignore()
    .returning<{ client_event_id: string }[]>('client_event_id');
  if (!fresh) return 'duplicate';
  try {
    const item = await getVisibleItem(db, who, report.itemId);
    const before = await findState(db, who.profileId, item.id);
    const at = new Date(Math.min(new Date(report.at).getTime(), call.now.getTime()));
    if (before?.state_at && before.state_at > at) return 'older';
    await write(call, item, { report, at });
    return 'applied';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.code === 'NOT_FOUND' ? 'not-found' : 'invalid';
  }
}

async function write(call: Call, item: VisibleItem, { report, at }: { report: SyncReport; at: Date }): Promise<void> {
  const { db, who } = call;
  await refuseStrangeFile(call, item.id, report.fileId);
  if (report.positionMs !== undefined && !isTimed(item)) throw conflict('not-playable-item', 'This has no position');
  if (report.reading !== undefined) {
    const reading = SetReading.safeParse({ value: report.reading, at: report.at, fileId: report.fileId });
    if (!reading.success) throw invalid(['body', 'reports'], 'bad_reading', 'the place is not one of a book');
    await setReading(call, item.id, reading.data);
  }
  if (report.positionMs !== undefined) {
    const durationMs = item.runtimeMs ?? 0;
    await recordPosition(call, {
      item,
      positionMs: report.positionMs,
      durationMs,
      fileId: report.fileId ?? null,
      at,
      mayCount: true,
    });
  }
  await mark(call, item, { watched: report.watched, at });
  if ((report.playedMs ?? 0) > HISTORY_FROM_MS) {
    await db('play_history').insert({
      id: newId(),
      profile_id: who.profileId,
      account_id: who.accountId,
      item_id: item.id,
      at,
      played_ms: report.playedMs,
    });
  }
}

/** Of a show or an album all that is in it. */
async function mark(
  { db, who }: Call,
  item: VisibleItem,
  { watched, at }: { watched: boolean | undefined; at: Date },
): Promise<void> {
  if (watched === undefined) return;
  const leaves = await leavesOf(db, who, { itemId: item.id, most: MOST_MARKED });
  if (watched) await markLeaves(db, { profileId: who.profileId, leaves, at, countPlay: false });
  else await unmarkLeaves(db, { profileId: who.profileId, leaves, at });
}
