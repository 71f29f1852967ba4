// Streams that give their slot to a recording.
import type { Db } from '../db.ts';
import { rowsOf } from '../rows.ts';
import { RECORDED } from './in-use.store.ts';
import { announceStreams, IN_USE } from './streams.store.ts';

/** Open streams `o` on tuners that receive the channel `?`, and that are neither recorded nor its own. */
const RIVALS = `from live_streams o
  where o.ended_at is null and o.channel_id <> ?::uuid and not ${RECORDED}
    and o.tuner_id in (select s.tuner_id from live_sources s join live_tuners t on t.id = s.tuner_id
      where s.channel_id = ?::uuid and s.enabled and not s.drm and t.enabled)`;

export interface Victim {
  id: string;
  channelId: string;
  channelName: string;
  yieldsAt: Date | null;
  profileIds: string[];
}

/** The stream with the fewest viewers; one that yields already before all others. */
export async function findVictim(db: Db, channelId: string): Promise<Victim | undefined> {
  const [row] = await rowsOf<Victim>(
    db,
    `select o.id, o.channel_id as "channelId", o.yields_at as "yieldsAt",
            (select c.name from live_channels c where c.id = o.channel_id) as "channelName",
            array(select p.profile_id from playback_sessions p
              where p.item_id = o.channel_id and p.state <> 'stopped') as "profileIds"
       ${RIVALS}
      order by o.yields_at nulls last,
        (select count(*) from playback_sessions p where p.item_id = o.channel_id and p.state <> 'stopped'), o.wanted_at
      limit 1`,
    [channelId, channelId],
  );
  return row;
}

export async function markYielding(db: Db, id: string, at: Date): Promise<void> {
  await db('live_streams').where({ id, ended_at: null }).update({ yields_at: at });
}

/** Streams that kept their slot are notified again the next time: a recording takes one within seconds of its time. */
export async function clearPastYields(db: Db): Promise<void> {
  await db('live_streams')
    .where({ ended_at: null })
    .whereRaw(`yields_at < now() - interval '20 seconds'`)
    .update({ yields_at: null });
}

/**
 * Ends one stream of these tuners whose time to yield has come, that with the fewest viewers. Returns the sessions that watched it;
 * undefined without such a stream.
 */
export async function takeYielded(db: Db, tunerIds: readonly string[]): Promise<string[] | undefined> {
  const [ended] = await rowsOf<{ tuner_id: string; channel_id: string }>(
    db,
    `update live_streams set ended_at = now(), state = 'ended', state_reason = 'yielded'
      where id = (select o.id from live_streams o
        where o.ended_at is null and o.yields_at <= now() and o.tuner_id = any(?::uuid[]) and not ${RECORDED}
        order by (select count(*) from playback_sessions p where p.item_id = o.channel_id and p.state <> 'stopped'), o.yields_at
        limit 1)
      returning tuner_id, channel_id`,
    [[...tunerIds]],
  );
  if (!ended) return undefined;
  await announceStreams(db, ended.tuner_id);
  return db('playback_sessions').where({ item_id: ended.channel_id }).whereNot({ state: 'stopped' }).pluck('id');
}

/** Whether a tuner of the channel has a slot that no one watches or records, or receives the channel already. */
export async function hasFreeSlot(db: Db, channelId: string): Promise<boolean> {
  const [row] = await rowsOf<{ free: boolean }>(
    db,
    `select exists (select from live_streams o where o.channel_id = ?::uuid and o.ended_at is null) or exists (
       select from live_sources s join live_tuners t on t.id = s.tuner_id
        where s.channel_id = ?::uuid and s.enabled and not s.drm and t.enabled and t.slot_count > (
          select count(*) from live_streams o where o.tuner_id = t.id and o.ended_at is null and ${IN_USE})) as free`,
    [channelId, channelId],
  );
  return row?.free ?? false;
}

/** Why the last stream of a channel ended, where it ended by a failure in the last minute. */
export async function lastFault(db: Db, channelId: string): Promise<string | undefined> {
  const [row] = await rowsOf<{ state_reason: string | null; live: boolean }>(
    db,
    `select state_reason, first_segment_at is not null as live from live_streams
      where channel_id = ? and ended_at > now() - interval '1 minute' order by ended_at desc limit 1`,
    [channelId],
  );
  if (!row || row.live || row.state_reason === null) return undefined;
  return ['released', 'replaced', 'yielded'].includes(row.state_reason) ? undefined : row.state_reason;
}
