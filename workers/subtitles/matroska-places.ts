// Where the clusters of a Matroska file begin, by its index or by their sizes.
import type { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { child, children, placedAt, uint } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { type Layout, section } from '../probe/matroska/layout.ts';
import { number } from '../probe/matroska/tracks.ts';
import { clusterAt } from './matroska-packets.ts';

/** Clusters are looked for so long after the end of a stretch. */
const AFTER_MS = 20_000;

/** A stretch of a picture track. */
export interface PictureQuery {
  /** As ffmpeg counts streams. */
  index: number;
  /** The file's clock at the beginning of the film. */
  startMs: number;
  /** On the film's clock. */
  fromMs: number;
  toMs: number;
  /** Bytes that may be read; then the stretch ends early. */
  mostRead: number;
  signal: AbortSignal;
}

/** A cluster or a block that the index names. */
export interface Place {
  timeMs: number;
  cluster: number;
  /** Of the block that the index names, in the content of the cluster. */
  relative: number | undefined;
  track: number;
}

function placesOf(cues: Buffer, { origin }: Layout, { scale, startMs }: FileClock): Place[] {
  const places: Place[] = [];
  for (const point of children(cues, ID.cuePoint)) {
    const timeMs = number(point, ID.cueTime, 0) * scale - startMs;
    for (const position of children(point, ID.cuePositions)) {
      const relative = child(position, ID.cueRelative);
      const cluster = origin + number(position, ID.cueCluster, 0);
      places.push({ timeMs, cluster, relative: relative && uint(relative), track: number(position, ID.cueTrack, 0) });
    }
  }
  return places.sort((a, b) => a.timeMs - b.timeMs);
}

interface FileClock extends Pick<PictureQuery, 'startMs'> {
  scale: number;
}

export type Clock = PictureQuery & FileClock;

/** Places in order of time. */
export async function placesIn(source: ByteSource, layout: Layout, clock: Clock): Promise<Place[]> {
  return (await indexedPlaces(source, layout, clock)) ?? hopped(source, layout, clock);
}

/** Places that the index names, in order of time. Undefined without an index. */
export async function indexedPlaces(
  source: ByteSource,
  layout: Layout,
  clock: FileClock,
): Promise<Place[] | undefined> {
  const cues = await section(source, layout, ID.cues).catch(() => undefined);
  return cues && placesOf(cues, layout, clock);
}

/** Most clusters of a file without an index. */
const MOST_HOPS = 20_000;

/** Without an index: the clusters by their sizes, until the end of the stretch. */
async function hopped(source: ByteSource, layout: Layout, { scale, startMs, toMs, signal }: Clock): Promise<Place[]> {
  const places: Place[] = [];
  let at = await headOf(source, layout.firstCluster ?? unsure('no Cluster'));
  for (let n = 0; n < MOST_HOPS && at < source.size; n += 1) {
    signal.throwIfAborted();
    const placed = await placedAt(source, at);
    if (!placed || placed.unknown) break;
    const cluster = placed.id === ID.cluster ? await clusterAt(source, at) : undefined;
    if (cluster) {
      const timeMs = cluster.time * scale - startMs;
      places.push({ timeMs, cluster: at, relative: undefined, track: 0 });
      if (timeMs > toMs + AFTER_MS) break;
    }
    at = placed.at + placed.size;
  }
  return places;
}

/** Where the head of a cluster begins whose content is known. */
async function headOf(source: ByteSource, cluster: { at: number }): Promise<number> {
  for (let length = 5; length <= 12; length += 1) {
    const placed = await placedAt(source, cluster.at - length);
    if (placed?.id === ID.cluster && placed.at === cluster.at) return cluster.at - length;
  }
  return unsure('no head');
}
