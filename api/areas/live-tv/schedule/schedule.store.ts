// The schedule: reads recordings and tuners, plans them, and writes what changed.
import { isDeepStrictEqual } from 'node:util';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { OPEN_STATES, type RecordingRow, type StoredConflict } from '../recordings/recordings.store.ts';
import { findAlternatives } from './alternatives.ts';
import { type Plan, type Planned, plan, type Refused } from './plan.ts';
import type { PlanTuner, Wanted } from './wanted.ts';

/** One computation at a time over all processes, until the transaction ends. */
export async function lockSchedule(db: Db): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.recording-plan'))`);
}

/** Lets the next job live.schedule make the plan again. */
export async function markStale(db: Db): Promise<void> {
  await db('recording_plan').where({ stale: false }).update({ stale: true });
}

/** Clears the mark before the reads of the job, so that a later change sets it again. */
export async function clearStale(db: Db): Promise<void> {
  await db('recording_plan').where({ stale: true }).update({ stale: false });
}

interface Open extends RecordingRow {
  tuner_ids: string[];
  /** Of the stream of the channel, for a running recording. */
  stream_tuner: string | null;
}

export interface Replanned {
  /** Recordings whose conflict is new. */
  conflicts: RecordingRow[];
  /** All whose state, times or slot changed. */
  changed: string[];
}

/** Makes the plan again and writes it. Run it in a transaction. */
export async function replan(db: Db): Promise<Replanned> {
  await lockSchedule(db);
  const rows = await openRecordings(db);
  const made = plan(rows.map(toWanted), await tunersOf(db));
  const replanned: Replanned = { conflicts: [], changed: [] };
  for (const row of rows) {
    const planned = made.planned.get(row.id);
    const change = planned ? plannedChange(row, planned) : await refusedChange(db, { row, made });
    if (!change) continue;
    await db('recordings')
      .where({ id: row.id })
      .update({ ...change, updated_at: db.fn.now() });
    replanned.changed.push(row.id);
    if (!planned && row.state !== 'conflict') replanned.conflicts.push(row);
  }
  await db('recording_plan').update({ computed_at: db.fn.now() });
  return replanned;
}

/** Planned and running recordings, and the tuners, as the planner takes them. */
export async function readPlanning(db: Db): Promise<{ wanted: Wanted[]; tuners: PlanTuner[] }> {
  const rows = await openRecordings(db);
  return { wanted: rows.map(toWanted), tuners: await tunersOf(db) };
}

async function openRecordings(db: Db): Promise<Open[]> {
  return rowsOf<Open>(
    db,
    `select r.*, coalesce(s.ids, '{}') as tuner_ids, o.tuner_id as stream_tuner
       from recordings r
       left join lateral (select array_agg(x.tuner_id::text order by x.place) as ids from (
         select s.tuner_id, min(row_number) as place from (
           select s.tuner_id, row_number() over (order by s.position, t.priority desc, s.id)
             from live_sources s join live_tuners t on t.id = s.tuner_id
            where s.channel_id = r.channel_id and s.enabled and not s.drm and t.enabled) s
          group by s.tuner_id) x) s on true
       left join live_streams o on o.channel_id = r.channel_id and o.ended_at is null
      where r.state = any(?) and r.end_at + r.end_pad_ms * interval '1 millisecond' > now()
      order by r.start_at, r.id`,
    [[...OPEN_STATES]],
  );
}

async function tunersOf(db: Db): Promise<PlanTuner[]> {
  return db('live_tuners').where({ enabled: true }).select('id', 'slot_count as slots');
}

function toWanted(row: Open): Wanted {
  const pinned = row.state === 'recording' ? (row.stream_tuner ?? undefined) : undefined;
  return {
    ...{ id: row.id, channelId: row.channel_id ?? row.id, priority: row.priority },
    ...{ startMs: row.start_at.getTime(), endMs: row.end_at.getTime(), createdMs: row.created_at.getTime() },
    ...{ startPadMs: row.start_pad_ms, endPadMs: row.end_pad_ms },
    ...{ tunerIds: row.tuner_ids, pinned },
  };
}

type Change = Partial<
  Pick<RecordingRow, 'state' | 'state_reason' | 'planned_from' | 'planned_to' | 'tuner_id' | 'slot'>
> & { conflict?: string | null };

const sameTime = (a: Date | null, ms: number): boolean => a?.getTime() === ms;

/** Undefined when the row says so already. */
function plannedChange(row: Open, { tunerId, slot, fromMs, toMs }: Planned): Change | undefined {
  const isRunning = row.state === 'recording';
  const isSame = sameTime(row.planned_to, toMs) && row.tuner_id === tunerId && row.slot === slot;
  if (isSame && row.state !== 'conflict' && (isRunning || sameTime(row.planned_from, fromMs))) return undefined;
  return {
    ...{ planned_to: new Date(toMs), tuner_id: tunerId, slot },
    ...(!isRunning && { state: 'scheduled', planned_from: new Date(fromMs), conflict: null }),
    ...(row.state === 'conflict' && { state_reason: null }),
  };
}

async function refusedChange(db: Db, { row, made }: { row: Open; made: Plan }): Promise<Change | undefined> {
  const refused = made.refused.get(row.id);
  if (!refused || row.state === 'recording') return undefined;
  const alternatives = await findAlternatives(db, row, made);
  const conflict = toConflict(refused, alternatives);
  if (row.state === 'conflict' && isDeepStrictEqual(row.conflict, conflict)) return undefined;
  const reason = row.tuner_ids.length === 0 ? ('tuner-unreachable' as const) : ('tuners-busy' as const);
  return {
    ...{ state: 'conflict', state_reason: reason, conflict: JSON.stringify(conflict) },
    ...{ planned_from: null, planned_to: null, tuner_id: null, slot: null },
  };
}

function toConflict({ fromMs, toMs, ...refused }: Refused, alternatives: string[]): StoredConflict {
  return {
    ...{ with: refused.with, slotsNeeded: refused.slotsNeeded, slotsFree: refused.slotsFree },
    ...{ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), alternatives },
  };
}
