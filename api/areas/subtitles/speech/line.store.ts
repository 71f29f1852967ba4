// The order in which requests are served, and when those of batches rest.
import type { Db } from '#platform/db.ts';

/**
 * True while requests of batches rest: somebody plays, buffers, or paused less than five minutes ago, or did so in the
 * last minute.
 */
const RESTING = `exists (select from playback_sessions p where p.state in ('playing', 'buffering')
    or (p.state = 'paused' and coalesce(p.paused_at, p.started_at) > now() - interval '6 minutes')
    or (p.state = 'stopped' and p.stopped_at > now() - interval '1 minute'))`;

export async function batchesRest(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { resting: boolean }[] }>(`select ${RESTING} as resting`);
  return rows[0]?.resting ?? false;
}

/**
 * Waiting requests with their position: single ones before batches, what a worker began before the rest, then accounts in
 * turn, the one that waits longest for a turn first.
 */
const LINE = `select w.id, w.batch_id, w.not_before, w.duration_ms - w.heard_ms as left_ms,
    row_number() over (order by w.batch_id is not null, w.started_at is null, w.turn, w.last nulls first, w.created_at, w.place, w.id)
      as position
  from (select r.*,
      case when r.batch_id is null
        then row_number() over (partition by r.account_id, r.batch_id is null, r.started_at is null order by r.created_at, r.id)
      end as turn,
      case when r.batch_id is null
        then (select max(q.started_at) from subtitle_requests q where q.account_id = r.account_id and q.batch_id is null)
      end as last
    from subtitle_requests r where r.state = 'waiting') w`;

/** The id of the request to serve next. Call it under a lock that one worker holds at a time. */
export async function nextInLine(db: Db): Promise<string | undefined> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select id from (${LINE}) line
     where (not_before is null or not_before < now()) and (batch_id is null or not ${RESTING})
     order by position limit 1`,
  );
  return rows[0]?.id;
}

export interface Place {
  /** Requests before it that wait or run. */
  before: number;
  /** Sound still to be heard for those, ms. */
  beforeMs: number;
}

/** Places in the line of these requests; one that runs has none. */
export async function placesInLine(db: Db, ids: readonly string[]): Promise<Map<string, Place>> {
  const { rows } = await db.raw<{ rows: { id: string; before: number; before_ms: number }[] }>(
    `with line as (${LINE}),
       running as (select count(*) as n, coalesce(sum(duration_ms - heard_ms), 0) as left_ms
         from subtitle_requests where state = 'running'),
       placed as (select id, position - 1 + running.n as before,
         sum(line.left_ms) over (order by position) - line.left_ms + running.left_ms as before_ms from line, running)
     select id, before::int, before_ms::bigint from placed where id = any(?::uuid[])`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, before, before_ms }) => [id, { before, beforeMs: Number(before_ms) }]));
}

export interface Demand {
  single: number;
  batch: number;
  resting: boolean;
}

/** After this time a worker looks again at a model with a fault. */
const FAULT_HOLDS = '10 minutes';

/** Numbers of requests that wait. */
export async function countWaiting(db: Db): Promise<Demand> {
  const { rows } = await db.raw<{ rows: Demand[] }>(
    `select count(*) filter (where batch_id is null)::int as single, count(*) filter (where batch_id is not null)::int as batch,
       ${RESTING} as resting from subtitle_requests where state = 'waiting'`,
  );
  return rows[0] ?? { single: 0, batch: 0, resting: false };
}

/**
 * Requests that wait or run and that no rest holds back. One more while no worker has looked for the declared model, so that
 * a worker starts and says what it finds. A fault that was found more than ten minutes ago is looked at again in this way:
 * requests are refused because of it, so nothing else would start a worker once the installation is corrected.
 */
export async function speechDemand(db: Db, declaredModel: string | undefined): Promise<number> {
  const { rows } = await db.raw<{ rows: { n: number }[] }>(
    `select ((select count(*) from subtitle_requests where state = 'running'
         or (state = 'waiting' and (not_before is null or not_before < now()) and (batch_id is null or not ${RESTING})))
       + (select count(*) from (select ?::text as name) d
          where d.name is not null and not exists (select from speech_models m where m.name = d.name
            and (m.fault = '' or m.seen_at > now() - interval '${FAULT_HOLDS}'))))::int as n`,
    [declaredModel ?? null],
  );
  return rows[0]?.n ?? 0;
}
