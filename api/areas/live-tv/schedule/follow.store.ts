// Recordings follow the programmes of the guide.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** How far a programme may move and take its recording along. */
const MOST_MOVED = `interval '3 hours'`;

/** Takes recordings along with programmes that moved, and marks those whose programme is gone. Returns how many moved. */
export async function followPrograms(db: Db): Promise<number> {
  const moved = await rowsOf<{ id: string }>(
    db,
    `update recordings r set start_at = case when r.state = 'recording' then r.start_at else p.start_at end,
            end_at = greatest(p.end_at, r.start_at + interval '1 second'), updated_at = now()
       from guide_programs p
      where p.id = r.program_id and r.state in ('scheduled', 'conflict', 'recording')
        and (p.start_at, p.end_at) is distinct from (r.start_at, r.end_at)
        and (r.state <> 'recording' or p.end_at <> r.end_at) and not r.by_hand
        and p.start_at between r.start_at - ${MOST_MOVED} and r.start_at + ${MOST_MOVED}
      returning r.id`,
    [],
  );
  await db.raw(
    `update recordings r set state_reason = 'programme-gone', updated_at = now()
      where r.state = 'scheduled' and r.program_id is not null and r.state_reason is null
        and not exists (select from guide_programs p where p.id = r.program_id)`,
  );
  return moved.length;
}

/** Whether something changed since the last plan, or a minute has passed while there is something to plan. */
export async function isPlanDue(db: Db): Promise<boolean> {
  const [row] = await rowsOf<{ due: boolean }>(
    db,
    `select (p.stale or coalesce(p.computed_at < now() - interval '1 minute', true)) and (
       exists (select from recordings where state in ('scheduled', 'conflict', 'recording'))
       or exists (select from recording_rules where enabled)) as due from recording_plan p`,
    [],
  );
  return row?.due ?? false;
}
