import { judgeItem } from '#areas/streaming/public.ts';
import { findSession, isBroadcast, type LivePlay, type SessionRow, touchBytes } from '#areas/viewing/public.ts';
import { may } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { recordedRendition } from '#platform/live/renditions.store.ts';
import { findOpenStream, keepStreamWanted, tune } from '#platform/live/streams.store.ts';
import { presentTuners } from '#platform/live/tuners.ts';
import { keepRendition } from './renditions.ts';
import { tunersOf } from './sources.view.ts';

export type LiveRow = SessionRow & { live: LivePlay };

const WANTED_MS = 3000;
const wantedAt = new Map<string, number>();

/** The caller's own open session of live television, or of a recording's parts. Throws 404 in all other cases. */
export async function getOwnLive(call: Call, id: string): Promise<LiveRow> {
  const row = await findSession(call.db, id);
  if (!row?.live || row.account_id !== call.who.accountId || row.state === 'stopped') throw notFound();
  if (isBroadcast(row)) requireAllowed(call.who, 'liveTv');
  await judgeItem(call, row.item_id);
  return row as LiveRow;
}

/** The caller's own session of a channel, or any with session:manage. */
export async function getManagedLive(call: Call, id: string): Promise<LiveRow> {
  requireAllowed(call.who, 'liveTv');
  const row = await findSession(call.db, id);
  const mine = row?.account_id === call.who.accountId || may(call.who, 'session:manage');
  if (!row?.live || !isBroadcast(row) || !mine || row.state === 'stopped') throw notFound();
  return row as LiveRow;
}

/** A sign of life: keeps the session open and its stream tuned. A stream that ended meanwhile is tuned again. */
export async function keepAlive(call: Call, row: LiveRow): Promise<void> {
  const { db, redis } = call.deps;
  const { channelId, recordingId } = row.live;
  if (Date.now() - (wantedAt.get(row.id) ?? 0) < WANTED_MS) return;
  if (wantedAt.size > 10_000) wantedAt.clear();
  wantedAt.set(row.id, Date.now());
  await touchBytes(db, row.id);
  await keepRendition(call, channelId, recordedRendition(row.live.rendition, recordingId));
  if (recordingId !== undefined) return;
  if ((await keepStreamWanted(db, channelId, 'viewer')) || (await findOpenStream(db, channelId))) return;
  const present = await presentTuners(redis, await tunersOf(db, channelId));
  await db.transaction((transaction) => tune(transaction, channelId, present));
}
