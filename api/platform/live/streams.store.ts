import type { Db } from '../db.ts';
import { newId } from '../ids.ts';
import type { ProbedStream } from '../media.ts';
import type { Row } from '../typed-query.ts';
import { type InUse, RECORDED, streamsOn } from './in-use.store.ts';
import type { PresentTuners } from './tuners.ts';

declare module '../column-types.ts' {
  interface ColumnTypes {
    'live_streams.facts': ProbedStream[];
    'live_streams.tried': Tried[];
  }
}

export type StreamFault = 'busy' | 'no-signal' | 'drm' | 'unreachable' | 'refused' | 'not-media' | 'ended' | 'stalled';

/** A source that failed since the last segment. */
export interface Tried {
  sourceId: string;
  tunerId: string;
  reason: StreamFault;
}

export type StreamRow = Row<'live_streams'>;

/** Postgres channel on which the id of a tuner with changed streams is announced. */
export const LIVE_STREAMS = 'foyer_live';

/** How long a request reserves its stream while it waits for the first segment. */
const RESERVED = `interval '25 seconds'`;

/** SQL condition over live_streams `o`: it is watched, recorded or waited for. */
export const IN_USE = `(coalesce(o.reserved_until > now(), false) or ${RECORDED} or exists (
  select from playback_sessions p where p.item_id = o.channel_id and p.state <> 'stopped'))`;

/** One arbitration at a time over all processes. Held until the transaction ends. */
export async function lockArbitration(db: Db): Promise<void> {
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.live-arbitration'))`);
}

export async function announceStreams(db: Db, tunerId: string): Promise<void> {
  await db.raw('select pg_notify(?, ?)', [LIVE_STREAMS, tunerId]);
}

export interface Candidate {
  source_id: string;
  tuner_id: string;
  slot_count: number;
  taken: number[];
  /** A test of a channel holds a slot. */
  tested: boolean;
}

/** Enabled sources of a channel in order, with the taken slots of their tuners. */
export async function candidatesOf(db: Db, channelId: string): Promise<Candidate[]> {
  const { rows } = await db.raw<{ rows: Candidate[] }>(
    `select s.id as source_id, s.tuner_id, t.slot_count, coalesce(t.tested_until > now(), false) as tested,
            array(select o.slot from live_streams o where o.tuner_id = s.tuner_id and o.ended_at is null) as taken
       from live_sources s join live_tuners t on t.id = s.tuner_id
      where s.channel_id = ? and s.enabled and not s.drm and t.enabled
      order by s.position, t.priority desc, s.id`,
    [channelId],
  );
  return rows;
}

/** Streams in slots that the tuner no longer has count too. */
function freeSlot({ slot_count: count, taken, tested }: Candidate): number | undefined {
  if (taken.length + (tested ? 1 : 0) >= count) return undefined;
  return Array.from({ length: count }, (_, slot) => slot).find((slot) => !taken.includes(slot));
}

export type Tuned =
  | { kind: 'open'; stream: StreamRow }
  | { kind: 'busy'; inUse: InUse[] }
  /** The channel has no source that may be received. */
  | { kind: 'none'; drm: boolean };

/**
 * Opens the stream of a channel, or joins the open one, in one atomic step: run it in a transaction. Sources are tried in
 * order, those of running tuners first; an unused stream gives its slot when none is free.
 */
export async function tune(db: Db, channelId: string, tuners: PresentTuners | undefined): Promise<Tuned> {
  await lockArbitration(db);
  const joined = await joinStream(db, channelId, tuners?.present);
  if (joined) return { kind: 'open', stream: joined };
  const all = await candidatesOf(db, channelId);
  if (all.length === 0) return { kind: 'none', drm: await hasEncrypted(db, channelId) };
  const candidates = [
    ...all.filter((one) => tuners?.ready.has(one.tuner_id) ?? true),
    ...all.filter((one) => tuners && !tuners.ready.has(one.tuner_id)),
  ];
  for (const one of candidates) {
    const slot = freeSlot(one);
    if (slot !== undefined) return { kind: 'open', stream: await openStream(db, channelId, { ...one, slot }) };
  }
  for (const one of candidates) {
    const ended = await takeIdleSlot(db, one.tuner_id);
    const slot = ended === undefined ? undefined : freeSlot({ ...one, taken: one.taken.filter((at) => at !== ended) });
    if (slot !== undefined) return { kind: 'open', stream: await openStream(db, channelId, { ...one, slot }) };
  }
  return { kind: 'busy', inUse: await streamsOn(db, [...new Set(all.map((one) => one.tuner_id))]) };
}

/**
 * The open stream of a channel. One that was live and whose tuner is gone moves to another source, or ends; a tuner that
 * leaves still receives it.
 */
async function joinStream(
  db: Db,
  channelId: string,
  present: ReadonlySet<string> | undefined,
): Promise<StreamRow | undefined> {
  const [row] = await db('live_streams')
    .where({ channel_id: channelId, ended_at: null })
    .update({ wanted_at: db.fn.now(), reserved_until: db.raw(`now() + ${RESERVED}`) })
    .returning('*');
  if (row?.state !== 'live' || !present || present.has(row.tuner_id)) return row;
  await leaveTuner(db, row);
  return findOpenStream(db, channelId);
}

/** Moves a stream to another source than its present one; without any it ends. */
async function leaveTuner(db: Db, row: StreamRow): Promise<void> {
  const others = (await candidatesOf(db, row.channel_id)).filter(({ tuner_id: id }) => id !== row.tuner_id);
  const next = nextPlace(others, row, []);
  if (next) await relocate(db, row, { ...next, tried: [] });
  else await endStream(db, row.id, 'unreachable');
}

/** Moves the streams of a tuner that is switched off to other tuners, or ends them. Run it in a transaction. */
export async function clearTuner(db: Db, tunerId: string): Promise<void> {
  await lockArbitration(db);
  for (const row of await db('live_streams').where({ tuner_id: tunerId, ended_at: null }).select('*'))
    await leaveTuner(db, row);
  await announceStreams(db, tunerId);
}

async function openStream(
  db: Db,
  channelId: string,
  { source_id, tuner_id, slot }: Pick<Candidate, 'source_id' | 'tuner_id'> & { slot: number },
): Promise<StreamRow> {
  const [row] = await db('live_streams')
    .insert({
      id: newId(),
      channel_id: channelId,
      source_id,
      tuner_id,
      slot,
      epoch: 0,
      reserved_until: db.raw(`now() + ${RESERVED}`),
    })
    .returning('*');
  if (!row) throw new Error('no row');
  await announceStreams(db, tuner_id);
  return row;
}

/** Ends the stream of a tuner that has been unused for longest, and returns its slot. */
async function takeIdleSlot(db: Db, tunerId: string): Promise<number | undefined> {
  const { rows } = await db.raw<{ rows: { slot: number }[] }>(
    `update live_streams set ended_at = now(), state = 'ended', state_reason = 'replaced'
      where id = (select o.id from live_streams o where o.tuner_id = ? and o.ended_at is null and not ${IN_USE}
                   order by o.wanted_at limit 1)
      returning slot`,
    [tunerId],
  );
  return rows[0]?.slot;
}

async function hasEncrypted(db: Db, channelId: string): Promise<boolean> {
  const row = await db('live_sources').where({ channel_id: channelId, drm: true }).first('id');
  return row !== undefined;
}

/**
 * Moves a stream to the next source after a failure, on another tuner too, in a transaction. `ended`: every source
 * failed before the first segment. A stream that was live goes on with its sources from the first one again.
 */
export async function moveStream(
  db: Db,
  { id, epoch }: Pick<StreamRow, 'id' | 'epoch'>,
  reason: StreamFault,
): Promise<'moved' | 'ended' | 'lost'> {
  await lockArbitration(db);
  const row = await db('live_streams').where({ id, epoch, ended_at: null }).forUpdate().first();
  if (!row) return 'lost';
  const tried = [...row.tried, { sourceId: row.source_id ?? '', tunerId: row.tuner_id, reason }];
  const next = nextPlace(await candidatesOf(db, row.channel_id), row, tried);
  if (next) {
    await relocate(db, row, { ...next, tried });
    return 'moved';
  }
  if (row.first_segment_at === null) {
    const change = { ended_at: db.fn.now(), state: 'ended' as const, state_reason: reason };
    await db('live_streams')
      .where({ id })
      .update({ ...change, tried: JSON.stringify(tried) });
    return 'ended';
  }
  const again = nextPlace(await candidatesOf(db, row.channel_id), row, []);
  await relocate(db, row, { ...(again ?? { ...row, source_id: row.source_id ?? '' }), tried: [] });
  return 'moved';
}

export interface Place {
  source_id: string;
  tuner_id: string;
  slot: number;
}

/** The first source with a free slot that was not tried. */
export function nextPlace(
  candidates: readonly Candidate[],
  row: StreamRow,
  tried: readonly Pick<Tried, 'sourceId'>[],
): Place | undefined {
  for (const one of candidates) {
    if (tried.some(({ sourceId }) => sourceId === one.source_id)) continue;
    const slot = one.tuner_id === row.tuner_id ? row.slot : freeSlot(one);
    if (slot !== undefined) return { source_id: one.source_id, tuner_id: one.tuner_id, slot };
  }
  return undefined;
}

/** Moves a stream to another source under a higher epoch, and announces it to the process of its tuner. */
export async function relocate(db: Db, row: StreamRow, { tried, ...place }: Place & { tried: Tried[] }): Promise<void> {
  await db('live_streams')
    .where({ id: row.id })
    .update({
      source_id: place.source_id || null,
      tuner_id: place.tuner_id,
      slot: place.slot,
      epoch: row.epoch + 1,
      tried: JSON.stringify(tried),
    });
  await announceStreams(db, place.tuner_id);
}

export async function findStream(db: Db, id: string): Promise<StreamRow | undefined> {
  return db('live_streams').where({ id }).first();
}

/** The open stream of a channel. */
export async function findOpenStream(db: Db, channelId: string): Promise<StreamRow | undefined> {
  return db('live_streams').where({ channel_id: channelId, ended_at: null }).first();
}

/** Keeps the stream of a channel tuned: for a viewer, or for a recording for the next 15 seconds. Writes at most each 3 seconds. */
export async function keepStreamWanted(db: Db, channelId: string, by: 'viewer' | 'recording'): Promise<boolean> {
  const recorded = { recorded_until: db.raw(`now() + interval '15 seconds'`) };
  const kept = await db('live_streams')
    .where({ channel_id: channelId, ended_at: null })
    .whereRaw(by === 'viewer' ? `wanted_at < now() - interval '3 seconds'` : 'true')
    .update({ wanted_at: db.fn.now(), ...(by === 'recording' && recorded) });
  return kept > 0;
}

/** Condition: no request reserved the stream after this one. Dates of JavaScript end at milliseconds. */
const NOT_LATER = `(reserved_until is null or reserved_until < ?::timestamptz + interval '2 milliseconds')`;

/** The request that waited for the stream got it, or gave up: then the slot is free, unless a later request waits. */
export async function endReservation(db: Db, { id, reserved_until: until }: StreamRow): Promise<void> {
  await db('live_streams').where({ id }).whereRaw(NOT_LATER, [until]).update({ reserved_until: null });
}

/** Ends a stream that no later request waits for. */
export async function giveUpStream(db: Db, { id, reserved_until: until }: StreamRow): Promise<void> {
  const [row] = await db('live_streams')
    .where({ id, ended_at: null })
    .whereRaw(NOT_LATER, [until])
    .update({ ended_at: db.fn.now(), state: 'ended', state_reason: 'unreachable' })
    .returning('tuner_id');
  if (row) await announceStreams(db, row.tuner_id);
}

/** Ends a stream; its slot is free at once. */
export async function endStream(db: Db, id: string, reason: string): Promise<void> {
  const [row] = await db('live_streams')
    .where({ id, ended_at: null })
    .update({ ended_at: db.fn.now(), state: 'ended', state_reason: reason })
    .returning('tuner_id');
  if (row) await announceStreams(db, row.tuner_id);
}
