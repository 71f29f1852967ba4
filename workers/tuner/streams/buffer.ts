import type { Db } from '#platform/db.ts';
import {
  type LiveSegment,
  listSegments,
  removeSegments,
  segmentEnd,
  tracksWithSegments,
} from '#platform/live/segments.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';

export interface BufferDeps {
  db: Db;
  redis: Redis;
  objects: Objects;
  /** The time by which segments are dated, Unix ms. */
  now: () => number;
}

interface Held {
  track: string;
  segments: LiveSegment[];
  viewers: number;
}

/** Minutes of the buffer of a channel: those of its tuner, else the server's. */
async function minutesOf(db: Db, channelIds: readonly string[], standard: number): Promise<Map<string, number>> {
  const { rows } = await db.raw<{ rows: { id: string; minutes: number | null }[] }>(
    `select s.channel_id as id, max(t.buffer_minutes) as minutes
       from live_sources s join live_tuners t on t.id = s.tuner_id
      where s.channel_id::text = any(?::text[]) group by s.channel_id`,
    [[...channelIds]],
  );
  return new Map(rows.map(({ id, minutes }) => [id, minutes ?? standard]));
}

/** From when on the segments of channels that are recorded are kept, Unix ms: a viewer may go back to the beginning. */
async function recordedSince(db: Db): Promise<Map<string, number>> {
  const { rows } = await db.raw<{ rows: { id: string; since: Date }[] }>(
    `select channel_id as id, min(planned_from) as since from recordings
      where state = 'recording' and channel_id is not null group by channel_id`,
  );
  return new Map(rows.map(({ id, since }) => [id, since.getTime()]));
}

async function viewersOf(db: Db, channelIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await db('playback_sessions')
    .whereRaw('item_id::text = any(?::text[])', [[...channelIds]])
    .whereNot({ state: 'stopped' })
    .groupBy('item_id')
    .select<{ item_id: string; viewers: number }[]>('item_id', db.raw('count(*)::int as viewers'));
  return new Map(rows.map(({ item_id: id, viewers }) => [id, viewers]));
}

/** Removes segments older than the buffer, then the oldest of the least watched channels until the rest fits. */
export async function trimBuffer(deps: BufferDeps, limits: { minutes: number; bytes: number }): Promise<void> {
  const tracks = await tracksWithSegments(deps.db);
  const ids = [...new Set(tracks.map(({ channelId }) => channelId))];
  const minutes = await minutesOf(deps.db, ids, limits.minutes);
  const viewers = await viewersOf(deps.db, ids);
  const recorded = await recordedSince(deps.db);
  const held: Held[] = [];
  for (const { channelId, track } of tracks) {
    const all = await listSegments(deps, track);
    // A player near the end of the buffer still reads what its last list named; half a minute is kept at all times.
    const keptMs = Math.max((minutes.get(channelId) ?? limits.minutes) * 60_000, 30_000) + 15_000;
    const from = Math.min(deps.now() - keptMs, (recorded.get(channelId) ?? Number.POSITIVE_INFINITY) - 5000);
    const old = all.filter((one) => segmentEnd(one) < from);
    await removeSegments(deps, track, old);
    held.push({ track, segments: all.slice(old.length), viewers: viewers.get(channelId) ?? 0 });
  }
  await fitBytes(deps, held, limits.bytes);
}

async function fitBytes(deps: BufferDeps, held: readonly Held[], most: number): Promise<void> {
  let size = held.reduce((sum, { segments }) => sum + segments.reduce((bytes, one) => bytes + one.bytes, 0), 0);
  const oldest = ({ segments }: Held): number => segments[0]?.startMs ?? 0;
  for (const { track, segments } of held.toSorted((a, b) => a.viewers - b.viewers || oldest(a) - oldest(b))) {
    const recent = deps.now() - 30_000;
    const gone: LiveSegment[] = [];
    for (const one of segments) {
      if (size <= most || segmentEnd(one) > recent) break;
      gone.push(one);
      size -= one.bytes;
    }
    await removeSegments(deps, track, gone);
  }
}
