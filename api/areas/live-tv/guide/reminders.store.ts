import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { rowsOf } from '#platform/rows.ts';

/** Reminders of a profile that wait. */
export const MOST_REMINDERS = 200;

/** Sets a reminder or changes its time; false beyond 200 of the profile. */
export async function putReminder(
  db: Db,
  { profileId, programId, leadMs }: { profileId: string; programId: string; leadMs: number },
): Promise<boolean> {
  await db.raw('select 1 from profiles where id = ? for update', [profileId]); // counted one after the other
  const [row] = await rowsOf<{ waiting: number; known: boolean }>(
    db,
    `select count(*)::int as waiting, coalesce(bool_or(r.program_id = ?), false) as known
       from program_reminders r join guide_programs p on p.id = r.program_id where r.profile_id = ?`,
    [programId, profileId],
  );
  if (row && row.waiting >= MOST_REMINDERS && !row.known) return false;
  await db('program_reminders')
    .insert({ id: newId(), profile_id: profileId, program_id: programId, lead_ms: leadMs })
    .onConflict(['profile_id', 'program_id'])
    .merge({ lead_ms: leadMs });
  return true;
}

export async function deleteReminder(db: Db, profileId: string, programId: string): Promise<void> {
  await db('program_reminders').where({ profile_id: profileId, program_id: programId }).delete();
}

export interface DueReminder {
  profileId: string;
  programId: string;
  channelId: string;
  channel: string;
  title: string;
  /** ISO time. */
  endAt: string;
}

/**
 * Removes the reminders that are due, and those of programmes that are gone, over, or without a channel; returns the due ones,
 * each with the first channel that shows the programme. The time follows the programme.
 */
export async function takeDueReminders(db: Db): Promise<DueReminder[]> {
  await db.raw(
    `delete from program_reminders r where not exists (select from guide_programs p where p.id = r.program_id and p.end_at > now())`,
  );
  const rows = await rowsOf<Omit<DueReminder, 'endAt'> & { endAt: Date }>(
    db,
    `with due as (
       delete from program_reminders where id in (
         select r.id from program_reminders r join guide_programs p on p.id = r.program_id
          where p.start_at - r.lead_ms * interval '1 millisecond' <= now() for update of r skip locked limit 500)
       returning profile_id, program_id)
     select d.profile_id as "profileId", d.program_id as "programId", c.id as "channelId", c.name as channel,
            t.text as title, p.end_at as "endAt"
       from due d join guide_programs p on p.id = d.program_id join guide_titles t on t.id = p.title
       join guide_channels g on g.id = p.channel
       join lateral (select l.id, l.name from live_channels l where l.guide_source_id = g.source_id
          and l.guide_channel_id = g.guide_id and l.enabled order by l.number_order, l.id limit 1) c on true`,
    [],
  );
  return rows.map((row) => ({ ...row, endAt: row.endAt.toISOString() }));
}
