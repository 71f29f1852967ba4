import type { Db } from '../db.ts';

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
    `select c.name as "channelName", coalesce(o.recorded_until > now(), false) as recording,
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
