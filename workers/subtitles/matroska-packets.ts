import { inflateSync } from 'node:zlib';
import type { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { child, children, load, type Placed, placedAt, uint, vint } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { type Layout, section } from '../probe/matroska/layout.ts';
import { number, type Track } from '../probe/matroska/tracks.ts';

/** The content of a track at a time, in units of the segment's scale. */
export interface Packet {
  track: number;
  time: number;
  duration: number | undefined;
  bytes: Buffer;
}

/** More than any line of text needs; video and audio are never loaded. */
const LARGEST = 1 << 20;

export interface Blocks {
  source: ByteSource;
  tracks: ReadonlyMap<number, Track>;
  /** A larger block is passed over; absent is the limit of a text. */
  largest?: number;
}

interface Reading extends Blocks {
  layout: Layout;
  signal: AbortSignal;
}

/**
 * The packets of a few small tracks, in order of time. Uses the index for tracks that it contains; for the others,
 * skips foreign blocks by their sizes. The file is never read whole.
 */
export async function packetsOf(reading: Reading): Promise<Packet[]> {
  const packets = (await indexed(reading)) ?? (await walked(reading));
  return packets.sort((a, b) => a.time - b.time);
}

interface Cue {
  /** Where the cluster begins in the file. */
  cluster: number;
  /** Where the block is in the cluster's content. */
  relative: number;
}

/** Undefined if the index is incomplete. */
async function indexed(reading: Reading): Promise<Packet[] | undefined> {
  const { source, layout, tracks, signal } = reading;
  const cues = cuesOf(await section(source, layout, ID.cues).catch(() => undefined), reading);
  if (!cues || [...tracks.keys()].some((track) => !cues.has(track))) return undefined;
  const places = [...cues.values()].flat();
  const packets: Packet[] = [];
  const seen = new Set<number>();
  for (const { cluster: at, relative } of places) {
    signal.throwIfAborted();
    const cluster = await clusterAt(source, at);
    const placed = cluster && (await placedAt(source, cluster.content + relative));
    const packet = cluster && placed && (await packetAt(reading, placed, cluster.time));
    if (!packet) return undefined;
    if (!seen.has(placed.at)) packets.push(packet);
    seen.add(placed.at);
  }
  return (await lacksNone(reading, places, seen)) ? packets : undefined;
}

/** Places of the wanted tracks; undefined if one lacks its position in the cluster. */
function cuesOf(cues: Buffer | undefined, { layout, tracks }: Reading): Map<number, Cue[]> | undefined {
  const found = new Map<number, Cue[]>();
  for (const point of cues ? children(cues, ID.cuePoint) : []) {
    for (const position of children(point, ID.cuePositions)) {
      const track = number(position, ID.cueTrack, 0);
      if (!tracks.has(track)) continue;
      const relative = child(position, ID.cueRelative);
      if (!relative) return undefined;
      const cue = { cluster: layout.origin + number(position, ID.cueCluster, 0), relative: uint(relative) };
      const known = found.get(track) ?? [];
      known.push(cue); // tens of thousands, where signs are drawn as text
      found.set(track, known);
    }
  }
  return found;
}

/** Some writers index one block of several, so the first and the last cluster are checked for others. */
async function lacksNone(reading: Reading, places: readonly Cue[], seen: ReadonlySet<number>): Promise<boolean> {
  for (const at of new Set([places[0]?.cluster, places.at(-1)?.cluster])) {
    const cluster = at === undefined ? undefined : await clusterAt(reading.source, at);
    if (!cluster || (await hasOthers(reading, cluster, seen))) return false;
  }
  return true;
}

async function hasOthers(
  reading: Reading,
  { content, end }: { content: number; end: number },
  seen: ReadonlySet<number>,
): Promise<boolean> {
  for (let at = content; at < end; ) {
    const placed = await placedAt(reading.source, at);
    if (!placed || placed.unknown) return false;
    if (!seen.has(placed.at) && (await packetAt(reading, placed, 0))) return true;
    at = placed.at + placed.size;
  }
  return false;
}

/** The content and time of the cluster at `at` in the file. */
export async function clusterAt(
  source: ByteSource,
  at: number,
): Promise<{ content: number; end: number; time: number } | undefined> {
  const cluster = await placedAt(source, at);
  if (cluster?.id !== ID.cluster) return undefined;
  const head = await source.read(cluster.at, 64);
  const time = child(head, ID.timestamp);
  const end = cluster.unknown ? source.size : cluster.at + cluster.size;
  return time && { content: cluster.at, end, time: uint(time) };
}

async function walked(reading: Reading): Promise<Packet[]> {
  const { source, layout, signal } = reading;
  const packets: Packet[] = [];
  let clusterTime = 0;
  for (let at = layout.firstCluster ? layout.firstCluster.at : source.size; at < source.size; ) {
    signal.throwIfAborted();
    const placed = await placedAt(source, at);
    if (!placed) break; // the file ends early, or is damaged from here on
    const entered = placed.id === ID.cluster;
    if (placed.unknown && !entered) break;
    if (placed.id === ID.timestamp) clusterTime = uint(await source.read(placed.at, Math.min(8, placed.size)));
    const packet = await packetAt(reading, placed, clusterTime);
    if (packet) packets.push(packet);
    at = entered ? placed.at : placed.at + placed.size;
  }
  return packets;
}

/** The packet of a block, alone or in its group, if its track is wanted. */
export async function packetAt(
  { source, tracks, largest = LARGEST }: Blocks,
  placed: Placed,
  clusterTime: number,
): Promise<Packet | undefined> {
  const block = await blockIn(source, placed);
  if (!block || block.size > largest || block.at + block.size > source.size) return undefined;
  const track = tracks.get(vint(await source.read(block.at, 8), 0)?.value ?? -1);
  if (!track) return undefined;
  const duration = await durationIn(source, placed, 2 * largest);
  return packetOf(track, { bytes: await load(source, block, largest), clusterTime, duration, largest });
}

/** The duration in a block group; a single block has none. */
async function durationIn(source: ByteSource, group: Placed, limit: number): Promise<number | undefined> {
  if (group.id !== ID.blockGroup || group.size > limit) return undefined;
  const duration = child(await load(source, group, limit), ID.blockDuration);
  return duration && uint(duration);
}

async function blockIn(source: ByteSource, group: Placed): Promise<Placed | undefined> {
  if (group.id === ID.simpleBlock) return group;
  if (group.id !== ID.blockGroup) return undefined;
  for (let at = group.at; at < group.at + group.size; ) {
    const placed = await placedAt(source, at);
    if (!placed || placed.unknown || placed.id === ID.block) return placed;
    at = placed.at + placed.size;
  }
  return undefined;
}

const LACING = 0x06;

interface Block {
  bytes: Buffer;
  clusterTime: number;
  duration: number | undefined;
  largest: number;
}

function packetOf(track: Track, { bytes, clusterTime, duration, largest }: Block): Packet {
  const { length = 1 } = vint(bytes, 0) ?? {};
  if (bytes.length < length + 3 || ((bytes[length + 2] ?? 0) & LACING) !== 0) unsure('laced blocks');
  const own = bytes.subarray(length + 3);
  const content = track.zipped ? inflateSync(own, { maxOutputLength: largest }) : Buffer.concat([track.stripped, own]);
  return { track: track.number, time: clusterTime + bytes.readInt16BE(length), duration, bytes: content };
}
