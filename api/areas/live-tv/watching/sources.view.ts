import type { Db } from '#platform/db.ts';

/** The tuners that receive a channel. */
export async function tunersOf(db: Db, channelId: string): Promise<string[]> {
  return db('live_sources').where({ channel_id: channelId, enabled: true }).distinct('tuner_id').pluck('tuner_id');
}

/** Sessions that watch a channel. */
export async function countViewers(db: Db, channelId: string): Promise<number> {
  const [row] = await db('playback_sessions')
    .where({ item_id: channelId })
    .whereNot({ state: 'stopped' })
    .select<{ viewers: number }[]>(db.raw('count(*)::int as viewers'));
  return row?.viewers ?? 0;
}

export interface Outage {
  from: Date;
  to: Date;
  reason: string;
}

/** Parts of a broadcast between two times that were not received; one that lasts ends at `to`. */
export async function listOutages(
  db: Db,
  channelId: string,
  { from, to }: { from: Date; to: Date },
): Promise<Outage[]> {
  const rows = await db('live_outages')
    .where({ channel_id: channelId })
    .where('from_at', '<', to)
    .whereRaw('coalesce(to_at, now()) > ?', [from])
    .orderBy('from_at');
  return rows.map(({ from_at: start, to_at: end, reason }) => ({ from: start, to: end ?? to, reason }));
}
