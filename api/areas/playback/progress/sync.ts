import type { z } from 'zod';
import { holdVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { recordPlay } from '#areas/stats/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { SetReading, type Synced, type SyncReport } from './progress.schemas.ts';
import { findState, leavesOf, markLeaves, type StateRow, unmarkLeaves, writeRating } from './progress.store.ts';
import { recordPosition, refuseBadPosition, refuseForeignFile } from './progress.ts';
import { takeReading } from './reading.ts';
import { emitState, ratingChanges, type What } from './state-event.ts';

type Result = z.input<typeof Synced>['results'][number];

const HISTORY_FROM_MS = 60_000;
/** Limit of a report for a show or an album. */
const MOST_MARKED = 20_000;

/** Applies reports in order and independently: an invalid one does not fail the rest. */
export async function sync(call: Call, reports: readonly SyncReport[]): Promise<Result[]> {
  const results: Result[] = [];
  const applied: SyncReport[] = [];
  for (const report of reports) {
    const outcome = await apply(call, report);
    results.push({ clientEventId: report.clientEventId, outcome });
    if (outcome === 'applied') applied.push(report);
  }
  await emitState(call, { what: applied.flatMap(whatOf), itemIds: applied.map(({ itemId }) => itemId) });
  return results;
}

async function apply(call: Call, report: SyncReport): Promise<Result['outcome']> {
  const { db, who } = call;
  const [fresh] = await db('playback_synced')
    .insert({ profile_id: who.profileId, client_event_id: report.clientEventId })
    .onConflict(['profile_id', 'client_event_id'])
    .ignore()
    .returning('client_event_id');
  if (!fresh) return 'duplicate';
  try {
    const item = await holdVisibleItem(db, who, report.itemId);
    const at = new Date(Math.min(new Date(report.at).getTime(), call.now.getTime()));
    await refuse(call, item, report);
    const before = await findState(db, who.profileId, item.id);
    const older = before?.state_at && before.state_at > at;
    if (!older) await write(call, item, { report, at, before });
    await keepHistory(call, item, { report, at });
    return older ? 'older' : 'applied';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.code === 'NOT_FOUND' ? 'not-found' : 'invalid';
  }
}

const whatOf = (report: SyncReport): What[] => [
  ...(report.positionMs === undefined ? [] : (['progress'] as const)),
  ...(report.watched === undefined ? [] : (['watched', 'progress'] as const)),
  ...(report.reading === undefined ? [] : (['reading'] as const)),
  ...ratingChanges({ value: report.rating, favorite: report.favorite }),
];

/** Validates a report before any of it is stored. */
async function refuse(call: Call, item: VisibleItem, report: SyncReport): Promise<void> {
  await refuseForeignFile(call, item.id, report.fileId);
  if (report.positionMs !== undefined) refuseBadPosition(item, report.positionMs);
}

interface Write {
  report: SyncReport;
  at: Date;
  before: StateRow | undefined;
}

async function write(call: Call, item: VisibleItem, { report, at, before }: Write): Promise<void> {
  if (report.reading !== undefined) {
    const reading = SetReading.safeParse({ value: report.reading, at: report.at, fileId: report.fileId });
    if (!reading.success) throw invalid(['body', 'reports'], 'bad_reading', 'not a position of a book');
    await takeReading(call, item, reading.data);
  }
  if (report.positionMs !== undefined) {
    await recordPosition(call, {
      item,
      positionMs: report.positionMs,
      durationMs: item.runtimeMs ?? 0,
      fileId: report.fileId ?? null,
      at,
      mayCount: before?.progress !== 1 || played(report), // reports of one play beyond its end count once
    });
  }
  await mark(call, item, { watched: report.watched, at });
  await rate(call, item, report);
}

async function rate({ db, who }: Call, item: VisibleItem, { rating, favorite }: SyncReport): Promise<void> {
  if (rating === undefined && favorite === undefined) return;
  const place = { profileId: who.profileId, itemId: item.id, libraryId: item.libraryId };
  await writeRating(db, { ...place, value: rating, favorite });
}

const played = ({ playedMs = 0 }: SyncReport): boolean => playedMs > HISTORY_FROM_MS;

/** Adds a history entry, also when a newer state prevents a new position. */
async function keepHistory(
  { db, who }: Call,
  item: VisibleItem,
  { report, at }: Pick<Write, 'report' | 'at'>,
): Promise<void> {
  const { playedMs } = report;
  if (playedMs === undefined) return; // Stats decides which are long enough
  await recordPlay(db, {
    profileId: who.profileId,
    itemId: item.id,
    startedAt: new Date(at.getTime() - playedMs),
    endedAt: at,
    playedMs,
    toMs: report.positionMs ?? 0,
    durationMs: item.runtimeMs ?? null,
    completed: report.watched === true,
    method: 'offline',
    source: 'offline-sync',
    deviceId: who.deviceId ?? null,
  });
}

/** Marks the item, or all items of a container. */
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
