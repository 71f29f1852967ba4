import type { Db } from '#platform/db.ts';
import type { CaptionService } from '#platform/live/captions.ts';
import { RECORDED } from '#platform/live/in-use.store.ts';
import { announceStreams } from '#platform/live/streams.store.ts';
import type { ProbedStream } from '#platform/media.ts';

/** An open stream of this tuner with its source. */
export interface OpenStream {
  id: string;
  channel_id: string;
  slot: number;
  epoch: number;
  state: 'tuning' | 'live' | 'ended';
  wanted: boolean;
  source_id: string | null;
  /** Sealed. */
  address: string | null;
  /** Sealed. */
  secrets: string | null;
  user_agent: string | null;
}

/** The open streams of a tuner. `wanted`: somebody watched, recorded or waited within `releaseSec`. */
export async function openStreams(db: Db, tunerId: string, releaseSec: number): Promise<OpenStream[]> {
  const { rows } = await db.raw<{ rows: OpenStream[] }>(
    `select o.id, o.channel_id, o.slot, o.epoch, o.state, o.source_id, s.address, t.secrets, t.user_agent,
            greatest(o.wanted_at + ? * interval '1 second', o.reserved_until) > now() or ${RECORDED} as wanted
       from live_streams o join live_tuners t on t.id = o.tuner_id left join live_sources s on s.id = o.source_id
      where o.tuner_id = ? and o.ended_at is null`,
    [releaseSec, tunerId],
  );
  return rows;
}

/** Takes the stream over under a higher epoch. Undefined when it has ended or moved. */
export async function claimStream(
  db: Db,
  { id, epoch }: Pick<OpenStream, 'id' | 'epoch'>,
): Promise<number | undefined> {
  const [row] = await db('live_streams')
    .where({ id, epoch, ended_at: null })
    .update({ epoch: epoch + 1 })
    .returning('epoch');
  return row?.epoch;
}

/** The first segment of the source is stored. */
export async function markLive(
  db: Db,
  { id, epoch }: { id: string; epoch: number },
  facts: readonly ProbedStream[],
): Promise<void> {
  await db('live_streams')
    .where({ id, epoch, ended_at: null })
    .update({
      state: 'live',
      first_segment_at: db.raw('coalesce(first_segment_at, now())'),
      facts: JSON.stringify(facts),
      tried: '[]',
    });
}

/** The caption services that were found in the broadcast. */
export async function noteServices(
  db: Db,
  { id, epoch }: { id: string; epoch: number },
  services: readonly CaptionService[],
): Promise<void> {
  await db('live_streams')
    .where({ id, epoch, ended_at: null })
    .update({ captions: JSON.stringify(services) });
}

/** Lets a stream go that is unused; false when it is wanted again in the meantime. */
export async function releaseStream(
  db: Db,
  id: string,
  { tunerId, releaseSec }: { tunerId: string; releaseSec: number },
) {
  const released = await db('live_streams as o')
    .where({ 'o.id': id, 'o.ended_at': null })
    .whereRaw(`greatest(o.wanted_at + ? * interval '1 second', o.reserved_until) <= now() and not ${RECORDED}`, [
      releaseSec,
    ])
    .update({ ended_at: db.fn.now(), state: 'ended', state_reason: 'released' });
  if (released > 0) await announceStreams(db, tunerId);
  return released > 0;
}

/** A part of the broadcast is missing from then on. */
export async function openOutage(db: Db, channelId: string, { from, reason }: { from: Date; reason: string }) {
  await db('live_outages')
    .insert({ channel_id: channelId, from_at: from, reason })
    .onConflict(['channel_id', 'from_at'])
    .ignore();
}

/** The broadcast goes on. */
export async function closeOutages(db: Db, channelId: string, to: Date): Promise<void> {
  await db('live_outages')
    .where({ channel_id: channelId, to_at: null })
    .update({ to_at: db.raw('greatest(from_at, ?::timestamptz)', [to]) });
}
