// Recordings follow the programmes of the guide.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** How far a programme may move and take its recording along. */
const MOST_MOVED = `interval '3 hours'`;

const ON_CHANNEL = `join guide_channels g on g.id = p.channel join guide_sources s on s.id = g.source_id and s.enabled
  join live_channels c on c.guide_source_id = g.source_id and c.guide_channel_id = g.guide_id`;

/** SQL condition over recordings `r`: the guide of its channel has its programme. */
export const SHOWN = `exists (select from guide_programs p ${ON_CHANNEL} where p.id = r.program_id and c.id = r.channel_id)`;

const TEXTS = 'join guide_titles t on t.id = p.title left join guide_titles e on e.id = p.episode_title';

/**
 * A programme that is new in the guide with the title of one that is gone, up to three hours from it, is the same: a guide that was
 * removed and added again gives its programmes new ids.
 */
const AGAIN = `
  update recordings r set program_id = n.program, updated_at = now() from (
    select distinct on (program) recording, program from (
      select distinct on (r.id) r.id as recording, p.id as program, abs(extract(epoch from p.start_at - r.start_at)) as far
        from recordings r join live_channels c on c.id = r.channel_id
        join guide_channels g on g.source_id = c.guide_source_id and g.guide_id = c.guide_channel_id
        join guide_sources s on s.id = g.source_id and s.enabled
        join guide_programs p on p.channel = g.id and p.end_at > now()
         and p.start_at between r.start_at - ${MOST_MOVED} and r.start_at + ${MOST_MOVED}
        ${TEXTS}
       where r.state in ('scheduled', 'conflict') and r.program_id is not null and not ${SHOWN}
         and t.text = r.title and e.text is not distinct from r.episode_title
         and not exists (select from recordings o where o.program_id = p.id and o.state in ('scheduled', 'conflict', 'recording'))
       order by r.id, far) nearest
     order by program, far) n
   where r.id = n.recording`;

/** Columns that a planned recording has of its programme, apart from the end. */
const COPIED: Readonly<Record<string, string>> = {
  ...{ start_at: 'p.start_at', title: 't.text', episode_title: 'e.text', description: 'p.description' },
  ...{ categories: 'p.categories', kind: 'p.kind', season_number: 'p.season_number', year: 'p.year' },
  ...{ episode_number: 'p.episode_number', episode_key: 'p.episode_key', series_key: 'p.series_key' },
  ...{ original_air_date: 'p.original_air_date', age_rating: 'p.age_rating', age_years: 'p.age_years' },
};
const [NAMES, VALUES] = [Object.keys(COPIED), Object.values(COPIED)];
/** One that a person changed keeps its length. */
const END = 'case when r.by_hand then r.end_at + (p.start_at - r.start_at) else p.end_at end';

const MOVED = `
  update recordings r set ${NAMES.map((name) => `${name} = ${COPIED[name]}`).join(', ')}, end_at = ${END}, updated_at = now()
    from guide_programs p ${TEXTS}
   where p.id = r.program_id and r.state in ('scheduled', 'conflict') and ${SHOWN}
     and (${VALUES.join(', ')}, ${END}) is distinct from (${NAMES.map((name) => `r.${name}`).join(', ')}, r.end_at)
  returning r.id`;

/** A programme on air that ends at another time. */
const LONGER = `
  update recordings r set end_at = p.end_at, updated_at = now() from guide_programs p
   where p.id = r.program_id and r.state = 'recording' and not r.by_hand and r.stop_at is null
     and p.start_at <= now() and p.end_at > now() and p.end_at <> r.end_at and p.end_at > r.start_at
  returning r.id`;

/** Takes recordings along with programmes that moved, and marks those whose programme is gone. Returns how many moved. */
export async function followPrograms(db: Db): Promise<number> {
  await db.raw(AGAIN);
  const moved = [...(await rowsOf(db, MOVED)), ...(await rowsOf(db, LONGER))];
  await db.raw(
    `update recordings r set state_reason = 'programme-gone', updated_at = now()
      where r.state = 'scheduled' and r.program_id is not null and r.state_reason is null and not ${SHOWN}`,
  );
  await db.raw(
    `update recordings r set state_reason = null, updated_at = now()
      where r.state = 'scheduled' and r.state_reason = 'programme-gone' and ${SHOWN}`,
  );
  return moved.length;
}

/** Whether something changed since the last plan, or a minute has passed while there is something to plan. */
export async function isPlanDue(db: Db): Promise<boolean> {
  const [row] = await rowsOf<{ due: boolean }>(
    db,
    `select (p.stale or coalesce(p.computed_at < now() - interval '1 minute', true))
       and not exists (select from jobs where key = 'live.schedule' and state in ('waiting', 'active')) and (
       exists (select from recordings where state in ('scheduled', 'conflict', 'recording'))
       or exists (select from recording_rules where enabled)) as due from recording_plan p`,
    [],
  );
  return row?.due ?? false;
}
