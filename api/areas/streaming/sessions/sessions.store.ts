import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { StreamPlan } from '../segments/plan.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'transcode_sessions.plan': StreamPlan;
    'transcode_sessions.error': SessionError;
    'transcode_sessions.worker': WorkerInfo;
  }
}

export const TABLE = 'transcode_sessions';

/**
 * `starting` waits for a worker, `running` has one, `idle` encodes nothing until the next wanted segment, with or without a
 * worker. `stopped` and `failed` are final.
 */
export type SessionState = 'starting' | 'running' | 'idle' | 'stopped' | 'failed';

/** Why a session failed; `segment` is the number of the segment that could not be made. */
export interface SessionError {
  code: string;
  reason: string;
  segment: number;
}

/** The worker of a session, visible with session:manage. */
export interface WorkerInfo {
  id: string;
  node: string;
  encoder: string;
  gpu?: string;
  pid: number;
  /** The pid namespace of `pid`: another container on the same node has another one. */
  pids?: string;
}

export type SessionRow = Row<'transcode_sessions'>;

/** A worker that does not renew for this long has lost the session. */
const LEASE = `interval '10 seconds'`;
/** SQL condition: no live worker holds the session. */
export const FREE = '(lease_until is null or lease_until < now())';
/** States of a session that has not ended. */
export const OPEN: SessionState[] = ['starting', 'running', 'idle'];

export type SessionDraft = Pick<
  SessionRow,
  'id' | 'playback_session_id' | 'account_id' | 'profile_id' | 'item_id' | 'file_id' | 'plan' | 'wanted_segment'
>;

/** The session waits for a worker at once; `wanted_segment` is the segment where the worker starts. */
export async function insertSession(db: Db, draft: SessionDraft): Promise<void> {
  await db(TABLE).insert({ ...draft, plan: JSON.stringify(draft.plan), state: 'starting' });
}

/** An open session that does not end later on, locked for the caller's transaction. */
export async function lockOpenSession(db: Db, id: string): Promise<SessionRow | undefined> {
  return db(TABLE).where({ id, stop_at: null, stopped_at: null }).whereIn('state', OPEN).forUpdate().first();
}

/** Replaces the plan of a session; only its texts may be different. */
export async function replacePlan(db: Db, id: string, plan: StreamPlan): Promise<void> {
  await db(TABLE)
    .where({ id })
    .update({ plan: JSON.stringify(plan) });
}

export async function findSession(db: Db, id: string): Promise<SessionRow | undefined> {
  return db(TABLE).where({ id }).first();
}

/** Claims this session for a worker. Undefined when another worker holds it, or it does not wait for one. */
export async function claimSession(db: Db, id: string, holder: WorkerInfo): Promise<SessionRow | undefined> {
  const [row] = await claim(db, holder).where({ id }).whereIn('state', ['starting', 'running']).returning('*');
  return row;
}

/** Claims the longest-waiting free session: new, lost by its worker, or offered while Redis was unavailable. */
export async function claimOpenSession(db: Db, holder: WorkerInfo): Promise<SessionRow | undefined> {
  const waiting = db(TABLE)
    .select('id')
    .whereIn('state', ['starting', 'running'])
    .andWhereRaw(FREE)
    .orderBy('wanted_at')
    .limit(1)
    .forUpdate()
    .skipLocked();
  const [row] = await claim(db, holder).whereIn('id', waiting).returning('*');
  return row;
}

/** Gives the sessions that the caller selects to a worker, if they are free. */
function claim(db: Db, holder: WorkerInfo) {
  return db(TABLE)
    .update({
      lease_holder: holder.id,
      lease_until: db.raw(`now() + ${LEASE}`),
      worker: JSON.stringify(holder),
      state: 'running',
    })
    .andWhereRaw(FREE);
}

/** Frees sessions of workers that died on this machine. The leases of other machines expire after 10 seconds. */
export async function freeDeadWorkers(db: Db, own: WorkerInfo, isAlive: (pid: number) => boolean): Promise<number> {
  const rows = await db(TABLE)
    .whereRaw('lease_until > now()')
    .whereRaw(`worker ->> 'node' = ? and worker ->> 'pids' = ?`, [own.node, own.pids ?? ''])
    .select<{ id: string; lease_holder: string; worker: WorkerInfo }[]>('id', 'lease_holder', 'worker');
  const dead = rows.filter((row) => !isAlive(row.worker.pid));
  for (const row of dead) await releaseSession(db, { id: row.id, holder: row.lease_holder, state: 'starting' });
  return dead.length;
}

/** Progress that a worker reports with its lease. */
export interface Renewal {
  state: 'running' | 'idle';
  /** Speed of the encoder relative to playback, if it is known. */
  speed?: number | undefined;
  /** Number of times that the encoder was restarted at another segment. */
  restarts: number;
}

/**
 * Renews the lease for 10 seconds and returns the row with the current want. Undefined when the session has ended or
 * another worker holds it.
 */
export async function renewSession(
  db: Db,
  { id, holder, renewal }: { id: string; holder: string; renewal: Renewal },
): Promise<SessionRow | undefined> {
  const [row] = await db(TABLE)
    .update({
      lease_until: db.raw(`now() + ${LEASE}`),
      state: renewal.state,
      speed: renewal.speed ?? null,
      restarts: renewal.restarts,
    })
    .where({ id, lease_holder: holder })
    .whereIn('state', OPEN)
    .returning('*');
  return row;
}

/**
 * Returns the lease of worker `holder`. `starting` requests another worker now, `idle` waits for the next wanted segment.
 * `heardAt` is the time of the last one that this worker knows; a later one, which it missed, gives `starting`.
 */
export async function releaseSession(
  db: Db,
  { id, holder, state, heardAt }: { id: string; holder: string; state: 'starting' | 'idle'; heardAt?: Date },
): Promise<void> {
  // JavaScript times have milliseconds, those of Postgres microseconds.
  const idleUnlessMissed = `case when date_trunc('milliseconds', wanted_at) > ? then 'starting' else 'idle' end`;
  const next = state === 'idle' && heardAt ? db.raw(idleUnlessMissed, [heardAt]) : state;
  await db(TABLE)
    .update({ lease_holder: null, lease_until: null, worker: null, speed: null, state: next })
    .where({ id, lease_holder: holder })
    .whereIn('state', OPEN);
}

/** Final: an open session fails, whichever worker holds it. */
export async function failSession(db: Db, id: string, error: SessionError): Promise<void> {
  await db(TABLE)
    .update({ state: 'failed', error: JSON.stringify(error), lease_holder: null, lease_until: null, worker: null })
    .where({ id })
    .whereIn('state', OPEN);
}

/** Records an access, at most once in 5 seconds. */
export async function touchSession(db: Db, id: string): Promise<void> {
  await db(TABLE)
    .update({ last_access_at: db.fn.now() })
    .where({ id })
    .andWhereRaw(`(last_access_at is null or last_access_at < now() - interval '5 seconds')`);
}

/** Plans and last wanted segments of these sessions, without stopped ones. Failed ones are included until the sweep. */
export async function findOpenSessions(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Pick<SessionRow, 'id' | 'plan' | 'wanted_segment'>>> {
  const rows = await db(TABLE)
    .whereRaw('id::text = any(?::text[])', [[...ids]])
    .whereNull('stopped_at')
    .select('id', 'plan', 'wanted_segment');
  return new Map(rows.map((row) => [row.id, row]));
}

export async function stopSession(db: Db, id: string): Promise<void> {
  await stopped(db).where({ id });
}

/** Stops the sessions of a playback session, now or after `afterMs`. Returns the ids stopped now. */
export async function stopSessionsOf(db: Db, playbackSessionId: string, afterMs: number): Promise<string[]> {
  const rows = { playback_session_id: playbackSessionId };
  if (afterMs <= 0) return (await stopped(db).where(rows).returning('id')).map(({ id }) => id);
  const stopAt = db.raw(`now() + ? * interval '1 millisecond'`, [afterMs]);
  await db(TABLE).update({ stop_at: stopAt }).where(rows).whereIn('state', OPEN);
  return [];
}

/** Records a pause or its end. It does not count as an access, so the worker of a paused viewer is free after a minute. */
export async function pauseSessionsOf(db: Db, playbackSessionId: string, paused: boolean): Promise<void> {
  await db(TABLE)
    .update({ paused })
    .where({ playback_session_id: playbackSessionId })
    .whereNot({ paused })
    .whereIn('state', OPEN);
}

/** Update that stops sessions. A failed session stays failed; its segments are deleted as well. */
function stopped(db: Db) {
  return db(TABLE)
    .update({
      state: db.raw(`case when state = 'failed' then state else 'stopped' end`),
      stopped_at: db.raw('coalesce(stopped_at, now())'),
    })
    .whereNull('stopped_at');
}

/**
 * Stops sessions without an access for 90 seconds while playing or 30 minutes while paused, and those whose stop time has
 * passed. A player that plays from its buffer and reports it keeps its session. Returns the number of stopped sessions.
 */
export async function sweepSessions(db: Db): Promise<number> {
  return stopped(db).andWhereRaw(
    `(stop_at < now() or coalesce(last_access_at, created_at) < now() - case when paused then interval '30 minutes' else interval '90 seconds' end
      and not exists (select from playback_sessions p where p.id = ${TABLE}.playback_session_id and p.state = 'playing'
        and p.last_report_at > now() - interval '90 seconds'))`,
  );
}

/** Ids of up to 50 sessions that stopped more than 60 seconds ago and may still have segments. */
export async function sessionsToPurge(db: Db): Promise<string[]> {
  return db(TABLE)
    .whereNull('purged_at')
    .andWhereRaw(`stopped_at < now() - interval '60 seconds'`)
    .limit(50)
    .pluck('id');
}

/** The segments of the session are deleted. */
export async function markPurged(db: Db, id: string): Promise<void> {
  await db(TABLE).update({ purged_at: db.fn.now() }).where({ id });
}

/** Sessions and live renditions that a worker holds, and those that wait for one. */
export async function countSlots(db: Db): Promise<{ used: number; waiting: number }> {
  const [row] = await db(TABLE)
    .whereIn('state', OPEN)
    .select<{ used: number; waiting: number }[]>(
      db.raw(`count(*) filter (where lease_until > now()) as used`),
      db.raw(`count(*) filter (where state <> 'idle' and ${FREE}) as waiting`),
    );
  const [live] = await db('live_renditions')
    .where({ ended_at: null })
    .select<{ used: number; waiting: number }[]>(
      db.raw(`count(*) filter (where lease_until > now()) as used`),
      db.raw(`count(*) filter (where ${FREE}) as waiting`),
    );
  return { used: (row?.used ?? 0) + (live?.used ?? 0), waiting: (row?.waiting ?? 0) + (live?.waiting ?? 0) };
}

/**
 * Requests a worker for an idle session without a newly wanted segment. True when the session changed: the caller must
 * then offer it to the workers.
 */
export async function wakeSession(db: Db, id: string): Promise<boolean> {
  const woken = await db(TABLE)
    .update({ state: 'starting', last_access_at: db.fn.now() })
    .where({ id, state: 'idle' })
    .whereRaw(FREE);
  return woken > 0;
}
