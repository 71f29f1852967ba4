import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { RecordingRow } from '../recordings/recordings.store.ts';
import { fits, type Plan } from './plan.ts';
import { tunersOfChannels } from './tuners-of-channels.store.ts';

const MOST_READ = 40;
const MOST_GIVEN = 10;

interface Airing {
  id: string;
  channel_id: string;
  start_at: Date;
  end_at: Date;
}

/** Other airings of the programme of a recording that would get a slot; ids of programmes, the earliest first. */
export async function findAlternatives(db: Db, row: RecordingRow, made: Plan): Promise<string[]> {
  if (row.episode_key === null) return [];
  const airings = await rowsOf<Airing>(
    db,
    `select p.id, c.id as channel_id, p.start_at, p.end_at
       from guide_programs p join guide_channels g on g.id = p.channel
       join guide_sources s on s.id = g.source_id and s.enabled
       join lateral (select l.id from live_channels l where l.guide_source_id = g.source_id
          and l.guide_channel_id = g.guide_id and l.enabled and not l.drm order by l.number_order, l.id limit 1) c on true
      where p.episode_key = ? and p.id is distinct from ? and p.start_at > now()
      order by p.start_at, p.id limit ?`,
    [row.episode_key, row.program_id, MOST_READ],
  );
  const tuners = await tunersOfChannels(
    db,
    airings.map((one) => one.channel_id),
  );
  const fitting = airings.filter((one) =>
    fits(made, {
      ...{ id: one.id, channelId: one.channel_id, priority: row.priority, createdMs: 0, startPadMs: 0, endPadMs: 0 },
      ...{ startMs: one.start_at.getTime(), endMs: one.end_at.getTime(), tunerIds: tuners.get(one.channel_id) ?? [] },
    }),
  );
  return fitting.slice(0, MOST_GIVEN).map(({ id }) => id);
}
