import type { Db } from '../db.ts';
import type { Objects } from '../objects.ts';
import type { Redis } from '../redis.ts';

/** A stored piece of a broadcast. */
export interface LiveSegment {
  /** Rises by one with each segment of the channel, over streams, tuners and processes. */
  sequence: number;
  /** Time of reception of its first picture, Unix ms. */
  startMs: number;
  durationMs: number;
  bytes: number;
  /** Of the stream when it was cut; of two segments with the same number the one with the higher epoch counts. */
  epoch: number;
  /** Interruptions before it: a segment with another number than its predecessor begins a new timeline. */
  discontinuity: number;
  streamId: string;
}

export const LIVE_BUCKET = 'foyer-live';

/** Redis channel on which a new segment of the channel is announced. */
export const liveNews = (channelId: string): string => `foyer:live:news:${channelId}`;

const indexKey = (channelId: string): string => `foyer:live:segments:${channelId}`;
/** A member of every whole index: without it Redis lost the index. */
const WHOLE = 'whole';
const KEPT_SEC = 2 * 86_400;

/** All segments of a channel. */
export const segmentsPrefix = (channelId: string): string => `segments/${channelId}/`;

/** The name contains every fact about the segment, so that the index can be made again from the bucket. */
export function segmentName(segment: LiveSegment): string {
  const { sequence, startMs, durationMs, bytes, epoch, discontinuity, streamId } = segment;
  return `${String(sequence).padStart(10, '0')}_${startMs}_${durationMs}_${bytes}_${epoch}_${discontinuity}_${streamId}.ts`;
}

export const segmentKey = (channelId: string, segment: LiveSegment): string =>
  `${segmentsPrefix(channelId)}${segmentName(segment)}`;

/** Key of the captions of a segment, by its name. */
export const captionsName = (channelId: string, name: string): string => `captions/${channelId}/${name}.json`;
/** Renditions have the captions of their channel. */
const isRendition = (track: string): boolean => track.includes('~');

const NAME = /^(\d{10})_(\d{1,15})_(\d{1,9})_(\d{1,12})_(\d{1,9})_(\d{1,9})_([0-9a-f-]{36})\.ts$/;

/** Undefined for a name that is no segment's. */
export function parseSegmentName(name: string): LiveSegment | undefined {
  const [, sequence, startMs, durationMs, bytes, epoch, discontinuity, streamId = ''] = NAME.exec(name) ?? [];
  if (sequence === undefined) return undefined;
  return {
    sequence: Number(sequence),
    startMs: Number(startMs),
    durationMs: Number(durationMs),
    bytes: Number(bytes),
    epoch: Number(epoch),
    discontinuity: Number(discontinuity),
    streamId,
  };
}

export const segmentEnd = ({ startMs, durationMs }: LiveSegment): number => startMs + durationMs;

/** Bits a second of the last segments. */
export function recentBitrate(segments: readonly LiveSegment[]): number {
  const recent = segments.slice(-5);
  const ms = recent.reduce((sum, one) => sum + one.durationMs, 0);
  return ms > 0 ? Math.round((recent.reduce((sum, one) => sum + one.bytes, 0) * 8000) / ms) : 0;
}

interface Stores {
  redis: Redis;
  objects: Objects;
}

/** Of two segments with one number the later epoch; ordered by number. */
export function ordered(segments: readonly LiveSegment[]): LiveSegment[] {
  const best = new Map<number, LiveSegment>();
  for (const one of segments) {
    const known = best.get(one.sequence);
    if (!known || known.epoch < one.epoch) best.set(one.sequence, one);
  }
  return [...best.values()].sort((a, b) => a.sequence - b.sequence);
}

const parsed = (names: readonly string[]): LiveSegment[] =>
  ordered(names.flatMap((name) => parseSegmentName(name) ?? []));

async function namesInBucket({ objects }: Pick<Stores, 'objects'>, channelId: string): Promise<string[]> {
  const prefix = segmentsPrefix(channelId);
  const names: string[] = [];
  for await (const { key } of objects.list(LIVE_BUCKET, prefix)) names.push(key.slice(prefix.length));
  return names;
}

/** Reads the bucket and writes the index again. */
async function rebuild(stores: Stores, channelId: string): Promise<string[]> {
  const names = await namesInBucket(stores, channelId);
  const write = stores.redis.multi().zadd(indexKey(channelId), '-1', WHOLE).expire(indexKey(channelId), KEPT_SEC);
  for (const name of names) write.zadd(indexKey(channelId), Number(name.slice(0, 10)), name);
  await write.exec().catch(() => null);
  return names;
}

/** The stored segments of a channel in order, optionally those that reach into a time. */
export async function listSegments(
  stores: Stores,
  channelId: string,
  between: { fromMs?: number; toMs?: number } = {},
): Promise<LiveSegment[]> {
  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = between;
  const members = await stores.redis.zrange(indexKey(channelId), '0', '-1').catch(() => []);
  const names = members[0] === WHOLE ? members : await rebuild(stores, channelId);
  return parsed(names).filter((one) => segmentEnd(one) > fromMs && one.startMs < toMs);
}

/** Adds a stored segment to the index and announces it. Without Redis, readers find it in the bucket. */
export async function addSegment(stores: Stores, channelId: string, segment: LiveSegment): Promise<void> {
  const { redis } = stores;
  const key = indexKey(channelId);
  const known = await redis.zscore(key, WHOLE).catch(() => 'unavailable');
  if (known === null) await rebuild(stores, channelId);
  await redis
    .multi()
    .zadd(key, segment.sequence, segmentName(segment))
    .expire(key, KEPT_SEC)
    .publish(liveNews(channelId), String(segment.sequence))
    .exec()
    .catch(() => null);
}

/** Deletes segments from the index first, so that no list names a deleted object. */
export async function removeSegments(
  stores: Stores,
  channelId: string,
  segments: readonly LiveSegment[],
): Promise<void> {
  const names = segments.map(segmentName);
  if (names.length === 0) return;
  await stores.redis.zrem(indexKey(channelId), ...names).catch(() => 0);
  for (let at = 0; at < names.length; at += 500) {
    const part = names.slice(at, at + 500);
    const keys = part.map((name) => `${segmentsPrefix(channelId)}${name}`);
    const captions = isRendition(channelId) ? [] : part.map((name) => captionsName(channelId, name));
    await stores.objects.remove(LIVE_BUCKET, [...keys, ...captions]);
  }
}

/** Where there may be segments: a stream or rendition of the last two days. `track` replaces the id of the channel in their keys. */
export async function tracksWithSegments(db: Db): Promise<{ channelId: string; track: string }[]> {
  const { rows } = await db.raw<{ rows: { channelId: string; track: string }[] }>(
    `select distinct channel_id as "channelId", channel_id::text as track from live_streams
      where coalesce(ended_at, now()) > now() - interval '2 days'
     union
     select distinct channel_id, channel_id::text || '~' || rendition from live_renditions
      where coalesce(ended_at, now()) > now() - interval '2 days'`,
  );
  return rows;
}
