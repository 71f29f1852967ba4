import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** The tuners that give a channel, in the order of its sources. */
export async function tunersOfChannels(db: Db, ids: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await rowsOf<{ channel_id: string; tuner_id: string }>(
    db,
    `select s.channel_id, s.tuner_id from live_sources s join live_tuners t on t.id = s.tuner_id
      where s.channel_id = any(?::uuid[]) and s.enabled and not s.drm and t.enabled
      order by s.position, t.priority desc, s.id`,
    [[...ids]],
  );
  const byChannel = Map.groupBy(rows, (row) => row.channel_id);
  return new Map([...byChannel].map(([id, own]) => [id, [...new Set(own.map((row) => row.tuner_id))]]));
}
