import { recordPlay } from '#areas/stats/public.ts';
import type { Db } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';
import type { Row, Update } from '#platform/typed-query.ts';
import type { LivePlay } from './live.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'playback_sessions.method': 'direct_play' | 'direct_stream' | 'transcode';
    'playback_sessions.decision': Record<string, unknown>;
    'playback_sessions.profile': Record<string, unknown>;
    /** Playback options that the client requested, except tracks; kept until it requests others. */
    'playback_sessions.wish': SessionOptions;
    'playback_sessions.live': LivePlay;
    'playback_sessions.commands': { command: string; args: Record<string, unknown> }[];
    'playback_sessions.stop_reason': StopReason;
  }
}

export type StopReason =
  | 'ended'
  | 'client'
  | 'ended-by-admin'
  | 'timeout'
  | 'replaced'
  | 'limit'
  | 'viewing-hours'
  | 'age-limit'
  | 'failed';

export interface SessionOptions {
  quality?: string | undefined;
  /** Bits a second. */
  maxBitrate?: number | undefined;
  allow?: { directPlay: boolean; directStream: boolean; transcode: boolean };
  /** Picture subtitles of a broadcast, which are no track of a file. */
  subtitleStreamId?: string | null | undefined;
}

/** `read_at` is when the client read the reported state, by its clock; `last_bytes_at` is accurate to ten seconds. */
export type SessionRow = Row<'playback_sessions'>;

export interface SessionDraft {
  id: string;
  account_id: string;
  profile_id: string;
  item_id: string;
  file_id: string;
  library_id: string;
  device_id: string | null | undefined;
  client_name: string | null | undefined;
  address: string;
  is_remote: boolean;
  method: SessionRow['method'];
  decision: object;
  profile: object | null;
  wish?: SessionOptions;
  url: string;
  transcode_session_id: string | null;
  position_ms: number;
  duration_ms: number | null;
  implicit: boolean;
  encodes: boolean;
  cast_device_id?: string | undefined;
  room_id?: string | undefined;
  queue_id?: string | undefined;
  live?: LivePlay | undefined;
}

/** A broadcast keeps no position. A recording does, also while it plays from its parts. */
export const isBroadcast = ({ live }: Pick<SessionRow, 'live'>): boolean =>
  live !== null && live.recordingId === undefined;

/** Inserts the row and emits `playback.started`. */
export async function insertSession(db: Db, draft: SessionDraft, reasons: string[]): Promise<SessionRow> {
  const profile = draft.profile && JSON.stringify(draft.profile);
  const row = {
    ...draft,
    from_ms: draft.position_ms,
    decision: JSON.stringify(draft.decision),
    profile,
    wish: JSON.stringify(draft.wish ?? {}),
    live: draft.live ? JSON.stringify(draft.live) : null,
  };
  const [made] = await db('playback_sessions').insert(row).returning('*');
  if (!made) throw new Error('no row');
  const payload = { ...payloadOf(made), method: made.method, isRemote: made.is_remote, reasons };
  await emit(db, 'playback.started', { payload, facts: factsOf(made) });
  return made;
}

export function payloadOf(row: SessionRow) {
  return {
    sessionId: row.id,
    userId: row.account_id,
    itemId: row.item_id,
    mediaFileId: row.file_id,
    positionMs: row.position_ms,
  };
}

export function factsOf(row: SessionRow) {
  return { userIds: [row.account_id], profileId: row.profile_id, itemId: row.item_id, libraryId: row.library_id };
}

export async function findSession(db: Db, id: string): Promise<SessionRow | undefined> {
  return db('playback_sessions').where({ id }).first();
}

/** Locks the row until the transaction ends. */
export async function lockSession(db: Db, id: string): Promise<SessionRow | undefined> {
  return db('playback_sessions').where({ id }).forUpdate().first();
}

/** Longest time between two signs of life that counts as playing. */
const SILENCE_MS = 60_000;

/** How long the session has played until now: while it plays, the time since its last report too. */
export function playedUntil(row: Pick<SessionRow, 'state' | 'played_ms' | 'last_report_at'>, now: Date): number {
  if (row.state !== 'playing') return row.played_ms;
  const since = now.getTime() - row.last_report_at.getTime();
  return row.played_ms + Math.max(0, Math.min(since, SILENCE_MS));
}

/** A session without reports played as long as its bytes were read. */
function playedOf(before: SessionRow, reason: StopReason): number {
  if (before.implicit) return Math.max(0, before.last_bytes_at.getTime() - before.started_at.getTime());
  return reason === 'timeout' ? before.played_ms : playedUntil(before, new Date());
}

const COMPLETED = 0.9;

async function keepPlay(db: Db, row: SessionRow, playedMs: number): Promise<void> {
  const { wish: stored } = row;
  const { reasons = [] } = row.decision as { reasons?: string[] };
  const reached = row.duration_ms ? row.position_ms / row.duration_ms : 0;
  await recordPlay(db, {
    profileId: row.profile_id,
    itemId: row.item_id,
    startedAt: row.started_at,
    endedAt: row.stopped_at ?? new Date(),
    playedMs,
    fromMs: row.from_ms,
    toMs: row.position_ms,
    durationMs: row.duration_ms,
    completed: row.counted_play || reached >= COMPLETED,
    method: row.method,
    source: 'playback',
    reasons,
    quality: stored.quality ?? null,
    client: row.client_name,
    platform: row.platform,
    isRemote: row.is_remote,
    address: row.address,
    deviceId: row.device_id,
    sessionId: row.id,
  });
}

/** Stops the session once and emits `playback.stopped`. The caller stops its transcode. */
export async function stopSession(
  db: Db,
  id: string,
  why: { reason: StopReason; positionMs?: number | undefined },
): Promise<SessionRow | undefined> {
  const before = await lockSession(db, id);
  if (!before || before.state === 'stopped') return undefined;
  const playedMs = playedOf(before, why.reason);
  const [row] = await db('playback_sessions')
    .where({ id })
    .update({
      state: 'stopped',
      stopped_at: new Date(),
      stop_reason: why.reason,
      played_ms: playedMs,
      ...(why.positionMs === undefined ? {} : { position_ms: why.positionMs }),
    })
    .returning('*');
  if (!row) return undefined;
  await keepPlay(db, row, playedMs);
  await emit(db, 'playback.stopped', { payload: payloadOf(row), facts: factsOf(row) });
  return row;
}

/** Keeps a session alive whose client reads bytes without reports. Writes at most once in 10 seconds. */
export async function touchBytes(db: Db, id: string): Promise<void> {
  await db('playback_sessions')
    .where({ id })
    .whereRaw(`last_bytes_at < now() - interval '10 seconds'`)
    .update({ last_bytes_at: new Date() });
}

/** The open direct-play session of account, device and file that a request without `session` continues. */
export async function findImplicit(
  db: Db,
  at: { accountId: string; deviceId: string | undefined; fileId: string },
): Promise<SessionRow | undefined> {
  return db('playback_sessions')
    .where({ account_id: at.accountId, file_id: at.fileId, implicit: true, device_id: at.deviceId ?? null })
    .whereNot({ state: 'stopped' })
    .first();
}

/** Changes columns of a session and returns its row. */
export async function updateSession(db: Db, id: string, change: Update<'playback_sessions'>): Promise<SessionRow> {
  const [row] = await db('playback_sessions').where({ id }).update(change).returning('*');
  if (!row) throw new Error('no row');
  return row;
}
