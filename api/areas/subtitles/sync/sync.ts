import {
  findStreamRows,
  findSubtitleFields,
  getVisibleItem,
  holdVisibleItem,
  type StreamRow,
  type SubtitleSync,
} from '#areas/items/public.ts';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { iso } from '#kernel/schemas.ts';
import { cancelUnstarted, requestCancel } from '#platform/queue.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import { announceSubtitles } from '../announce.ts';
import { requireTool } from '../tools.ts';
import type { SyncChange } from './sync.schemas.ts';
import { deleteSync, findRunningSync, putSync } from './syncs.store.ts';

/** Ids of an item and of one of its subtitle streams. */
export interface TrackIds {
  id: string;
  streamId: string;
}

const AN_HOUR_MS = 3_600_000;
const MOST_AN_HOUR = 60;

/** A subtitle stream of an item's files. Throws 404. */
export async function getSubtitleRow({ db }: Pick<Call, 'db'>, { id, streamId }: TrackIds): Promise<StreamRow> {
  const held = await db('media_streams as s')
    .join('media_files as f', 'f.id', 's.file_id')
    .where({ 's.id': streamId, 's.kind': 'subtitle', 'f.item_id': id, 'f.ignored': false })
    .first<{ file_id: string } | undefined>('s.file_id');
  const rows = held ? await findStreamRows(db, [held.file_id]) : [];
  const row = rows.find((one) => one.id === streamId);
  if (!row) throw notFound();
  return row;
}

/** The correction of a track, with the automatic one that runs. */
export async function readSync(call: Call, ids: TrackIds): Promise<SubtitleSync> {
  await getVisibleItem(call.db, call.who, ids.id);
  return shownSync(call, await getSubtitleRow(call, ids));
}

/** The correction of a track as the caller sees it. */
export async function shownSync({ db, who }: Call, row: StreamRow): Promise<SubtitleSync> {
  const fields = (await findSubtitleFields(db, who, [row])).get(row.id);
  if (!fields) throw notFound();
  const running = await findRunningSync(db, row.id);
  return {
    ...fields.sync,
    ...(running && { running: { progress: running.progress, startedAt: iso(running.startedAt) } }),
  };
}

/** Replaces the correction. */
export async function setSync(call: Call, ids: TrackIds, change: SyncChange): Promise<SubtitleSync> {
  const { db, who } = call;
  const fall = change.pieces.findIndex(({ fromMs }, i) => i > 0 && fromMs <= (change.pieces[i - 1]?.fromMs ?? 0));
  if (fall > 0) throw invalid(['body', 'pieces', fall], 'not_rising', 'pieces rise in fromMs');
  await holdVisibleItem(db, who, ids.id);
  const row = await getSubtitleRow(call, ids);
  if (await findRunningSync(db, row.id)) throw conflict('sync-running', 'This track is being corrected');
  const track = await findSync(db, row.id);
  if (!track) throw notFound();
  await putSync(db, track, { ...change, source: 'manual', accountId: who.accountId });
  await announceSubtitles(db, ids.id);
  return shownSync(call, row);
}

/** Puts the track back to its own timing, and stops an automatic correction. */
export async function clearSync(call: Call, ids: TrackIds): Promise<void> {
  const { db, who } = call;
  await holdVisibleItem(db, who, ids.id);
  const row = await getSubtitleRow(call, ids);
  const running = await findRunningSync(db, row.id);
  if (running) {
    await cancelUnstarted(db, running.id, call.now);
    await requestCancel(db, running.id);
  }
  const track = await findSync(db, row.id);
  if (track && (await deleteSync(db, track))) await announceSubtitles(db, ids.id);
}

/** Throws 403 and 429 for the endpoints that anyone may use who is let use the tools. */
export async function admitTiming(call: Call): Promise<void> {
  requireTool(call, 'sync');
  if (isEditingAdmin(call.who)) return;
  const { redis, config } = call.deps;
  const limiter = { redis, replicas: config.replicas, windowMs: AN_HOUR_MS };
  await limitAttempts(limiter, `subtitle-timing:${call.who.accountId}`, MOST_AN_HOUR);
}
