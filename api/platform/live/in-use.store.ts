import type { Db } from '../db.ts';

/**
 * SQL condition over live_streams `o`: it is recorded. A running recording counts also while no worker renews its mark, and
 * after the database was unavailable: its stream goes on into the buffer.
 */
export const RECORDED = `(coalesce(o.recorded_until > now(), false) or exists (select from recordings r
  where r.channel_id = o.channel_id and r.state = 'recording' and coalesce(r.stop_at, r.planned_to, r.end_at) > now()))`;

export interface InUse {
  channelName: string;
  viewers: number;
  recording: boolean;
  /** ISO time at which its recording ends; absent while it is watched too. */
  freeAt?: string;
}

/** Who uses the slots of tuners. */
export async function streamsOn(db: Db, tunerIds: readonly string[]): Promise<InUse[]> {
  const { rows } = await db.raw<{ rows: (Omit<InUse, 'freeAt'> & { planned_to: Date | null })[] }>(
    `select c.name as "channelName", ${RECORDED} as recording,
            (select max(r.planned_to) from recordings r where r.channel_id = o.channel_id and r.state = 'recording') as planned_to,
            (select count(*)::int from playback_sessions p where p.item_id = o.channel_id and p.state <> 'stopped') as viewers
       from live_streams o join live_channels c on c.id = o.channel_id
      where o.ended_at is null and o.tuner_id::text = any(?::text[]) order by c.number_order`,
    [[...tunerIds]],
  );
  return rows.map(({ planned_to: end, ...one }) => {
    return { ...one, ...(end && one.viewers === 0 && { freeAt: end.toISOString() }) };
  });
}
