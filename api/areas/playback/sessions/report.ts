import { holdVisibleItem, type VisibleItem } from '#areas/items/public.ts';
import { touchTranscode } from '#areas/streaming/public.ts';
import {
  factsOf,
  isBroadcast,
  lockSession,
  payloadOf,
  playedUntil,
  type SessionRow,
  updateSession,
} from '#areas/viewing/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import type { PlaybackReport } from '../playback.schemas.ts';
import { recordPosition } from '../progress/progress.ts';
import { emitState } from '../progress/state-event.ts';
import { takeTracks } from './track-choices.ts';

const PROGRESS_EVENT_MS = 10_000;

/** Locks the caller's own session. Throws 404 for another account's session, 409 for a stopped one. */
export async function ownOpenSession({ db, who }: Call, id: string): Promise<SessionRow> {
  const row = await lockSession(db, id);
  if (!row || row.account_id !== who.accountId) throw notFound();
  if (row.state === 'stopped') {
    throw conflict('session-stopped', 'This session has ended', { stopReason: row.stop_reason });
  }
  return row;
}

/**
 * Stores the state of the player. The position is in Postgres before the response, so no acknowledged position is lost
 * with a process.
 */
export async function report(
  call: Call,
  id: string,
  body: PlaybackReport,
): Promise<{ row: SessionRow; commands: SessionRow['commands'] }> {
  const { db, now } = call;
  const before = await ownOpenSession(call, id);
  const item = await holdVisibleItem(db, call.who, before.item_id);
  const at = timeOf(call, body);
  if (before.read_at && before.read_at > at) return ignoreLate(call, before);
  const { positionMs, counted } = await keep(call, item, { row: before, body, at });
  const decision = await takeTracks(db, before, { item, named: body });
  const progressDue = now.getTime() - (before.last_progress_event_at?.getTime() ?? 0) >= PROGRESS_EVENT_MS;
  const row = await updateSession(db, id, {
    state: body.state,
    position_ms: positionMs,
    played_ms: playedUntil(before, now),
    rate: body.rate,
    read_at: at,
    last_report_at: now,
    counted_play: before.counted_play || counted,
    commands: '[]',
    ...(decision && { decision: JSON.stringify(decision) }),
    ...(progressDue ? { last_progress_event_at: now } : {}),
  });
  await emitChanges(call, { before, row, progressDue, counted });
  if (row.transcode_session_id) await touchTranscode(db, id, { paused: row.state === 'paused' });
  return { row, commands: before.commands };
}

/** A future time counts as now. */
function timeOf({ now }: Call, { at }: PlaybackReport): Date {
  const reported = at ? new Date(at) : now;
  return reported > now ? now : reported;
}

/** A late report changes nothing, but proves that the client is alive. */
async function ignoreLate({ db, now }: Call, { id, commands }: SessionRow): ReturnType<typeof report> {
  const row = await updateSession(db, id, { last_report_at: now, commands: '[]' });
  return { row, commands };
}

/** A paused player repeats the position that it has reported, so the position of another device stays. */
export const standsAt = (row: SessionRow, positionMs: number): boolean =>
  row.state === 'paused' && row.read_at !== null && row.position_ms === positionMs;

/** A position beyond the end is the end. */
async function keep(
  call: Call,
  item: VisibleItem,
  { row, body, at }: { row: SessionRow; body: PlaybackReport; at: Date },
): Promise<{ positionMs: number; counted: boolean }> {
  const durationMs = row.duration_ms ?? item.runtimeMs ?? 0;
  const positionMs = Math.min(body.positionMs, durationMs || Number.MAX_SAFE_INTEGER);
  if (isBroadcast(row)) return { positionMs, counted: false };
  if (body.state === 'paused' && standsAt(row, positionMs)) return { positionMs, counted: false };
  const reading = { item, positionMs, durationMs, fileId: row.file_id, at, mayCount: !row.counted_play, ofFile: true };
  const { counted } = await recordPosition(call, { ...reading, profileId: row.profile_id });
  return { positionMs, counted };
}

interface Changes {
  before: SessionRow;
  row: SessionRow;
  progressDue: boolean;
  counted: boolean;
}

/** Emits paused and resumed on a change of state, and progress at most once in 10 seconds. Buffering has no event. */
async function emitChanges(call: Call, { before, row, progressDue, counted }: Changes): Promise<void> {
  const { emit } = call;
  const facts = factsOf(row);
  if (row.state === 'paused' && before.state !== 'paused') await emit('playback.paused', payloadOf(row), facts);
  if (row.state === 'playing' && before.state === 'paused') await emit('playback.resumed', payloadOf(row), facts);
  if (row.state === 'playing' && progressDue) await emit('playback.progress', payloadOf(row), facts);
  if (progressDue || counted || row.state !== before.state) await emitPosition(call, row, counted);
}

async function emitPosition(call: Call, row: SessionRow, watched: boolean): Promise<void> {
  const what = watched ? (['progress', 'watched'] as const) : (['progress'] as const);
  await emitState(call, { what, itemIds: [row.item_id], profileId: row.profile_id });
}
