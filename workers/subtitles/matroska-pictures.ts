import { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { child, children, placedAt, uint } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { type Layout, layoutOf, section } from '../probe/matroska/layout.ts';
import { number, type Track, tracksOf } from '../probe/matroska/tracks.ts';
import { clearsScreen, displaySets, type PictureCodec, type PicturePacket } from './display-sets.ts';
import { clusterAt, type Packet, packetAt } from './matroska-packets.ts';

const CODECS: Readonly<Record<string, PictureCodec>> = { 'S_HDMV/PGS': 'pgs', S_VOBSUB: 'vobsub' };

/** Limit of a block of pictures. */
const LARGEST = 4 << 20;
/** Bytes that one stretch may read; the rest of a longer one is left for the next request. */
const MOST_READ = 56 << 20;
/** A stretch of so many bytes is read as a whole; in a longer one the reader jumps from block to block. */
const SMALL_SPAN = 32 << 20;
const LARGE_WINDOW = 1 << 20;
const SMALL_WINDOW = 1024;
const LANES = 4;
/** No picture is shown for longer, so a packet before that is not looked for. */
const MOST_BACK_MS = 300_000;
const BACK_STEP_MS = 20_000;

export interface PictureQuery {
  /** As ffmpeg counts streams. */
  index: number;
  /** The file's clock at the beginning of the film. */
  startMs: number;
  /** On the film's clock. */
  fromMs: number;
  toMs: number;
  signal: AbortSignal;
}

export interface PictureStretch {
  codec: PictureCodec;
  /** What the track says of its pictures; for VobSub the text of an idx file. */
  header: string;
  packets: PicturePacket[];
  /** Until here everything was read, on the film's clock. */
  untilMs: number;
  /** Bytes that were read for it. */
  loaded: number;
}

/**
 * Packets of a picture track in a stretch, after those that build the picture at its beginning. Reads the index, and
 * where that names only other tracks, the heads of the blocks of the stretch. Throws Unsure when ffmpeg is needed.
 */
export async function matroskaPictures(file: string, query: PictureQuery): Promise<PictureStretch> {
  const source = await ByteSource.open(file, { window: 4096 });
  try {
    const layout = await layoutOf(source);
    const track = tracksOf((await section(source, layout, ID.tracks)) ?? unsure('no Tracks'))[query.index];
    const codec = CODECS[track?.codec ?? ''];
    if (!track || !codec || (track.packed && !track.zipped)) unsure('not a picture track');
    const info = (await section(source, layout, ID.info)) ?? unsure('no Info');
    const scale = number(info, ID.scale, 1_000_000) / 1_000_000;
    const cues = await section(source, layout, ID.cues).catch(() => undefined);
    const places = cues
      ? placesOf(cues, layout, { scale, startMs: query.startMs })
      : await hopped(source, layout, { scale, ...query });
    const reading: Reading = { file, source, track, codec, scale, places, query, lost: 0 };
    const found = (await byIndex(reading)) ?? (await byBlocks(reading));
    return { codec, header: track.codecPrivate.toString('utf8'), ...found, loaded: source.loaded + reading.lost };
  } finally {
    await source.close();
  }
}

interface Place {
  timeMs: number;
  cluster: number;
  /** Of the block that the index names, in the content of the cluster. */
  relative: number | undefined;
  track: number;
}

interface Reading {
  file: string;
  source: ByteSource;
  track: Track;
  codec: PictureCodec;
  scale: number;
  /** In order of time. */
  places: readonly Place[];
  query: PictureQuery;
  /** Bytes that lanes which have ended read. */
  lost: number;
}

interface Found {
  packets: PicturePacket[];
  untilMs: number;
}

function placesOf(cues: Buffer, { origin }: Layout, { scale, startMs }: { scale: number; startMs: number }): Place[] {
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

/** Most clusters of a file without an index. */
const MOST_HOPS = 20_000;

/** Without an index: the clusters by their sizes, until the end of the stretch. */
async function hopped(
  source: ByteSource,
  layout: Layout,
  { scale, startMs, toMs, signal }: PictureQuery & { scale: number },
): Promise<Place[]> {
  const places: Place[] = [];
  const first = layout.firstCluster ?? unsure('no Cluster');
  let at = first.at - 12;
  for (let back = 5; back <= 12; back += 1) {
    const placed = await placedAt(source, first.at - back);
    if (placed?.id === ID.cluster && placed.at === first.at) at = first.at - back;
  }
  for (let n = 0; n < MOST_HOPS && at < source.size; n += 1) {
    signal.throwIfAborted();
    const placed = await placedAt(source, at);
    if (!placed || placed.unknown) break;
    const cluster = placed.id === ID.cluster ? await clusterAt(source, at) : undefined;
    const timeMs = cluster && cluster.time * scale - startMs;
    if (timeMs !== undefined) places.push({ timeMs, cluster: at, relative: undefined, track: 0 });
    if (timeMs !== undefined && timeMs > toMs + BACK_STEP_MS) break;
    at = placed.at + placed.size;
  }
  return places;
}

const byTime = (a: PicturePacket, b: PicturePacket): number => a.timeMs - b.timeMs;

/** Packets where the index names each block of the track. Undefined where it does not. */
async function byIndex(reading: Reading): Promise<Found | undefined> {
  const { places, track, query, codec } = reading;
  const own = places.filter((place) => place.track === track.number);
  if (own.length === 0 || own.some(({ relative }) => relative === undefined)) return undefined;
  const first = own.findIndex(({ timeMs }) => timeMs >= query.fromMs);
  const begin = first < 0 ? own.length : first;
  const packets: PicturePacket[] = [];
  const seen = new Set<string>();
  const take = async (place: Place | undefined): Promise<PicturePacket | undefined> => {
    const key = `${place?.cluster} ${place?.relative}`;
    if (!place || seen.has(key)) return undefined;
    seen.add(key);
    query.signal.throwIfAborted();
    return packetOfPlace(reading, place);
  };
  for (let i = begin; (own[i]?.timeMs ?? Number.POSITIVE_INFINITY) < query.toMs; i += 1) {
    if (reading.source.loaded > MOST_READ) return { packets: packets.sort(byTime), untilMs: own[i]?.timeMs ?? 0 };
    const packet = await take(own[i]);
    if (packet) packets.push(packet);
  }
  for (let i = begin - 1; i >= 0 && (own[i]?.timeMs ?? 0) > query.fromMs - MOST_BACK_MS; i -= 1) {
    const packet = await take(own[i]);
    if (packet) packets.push(packet);
    if (packet && clearsScreen(codec, packet.bytes)) break;
  }
  packets.sort(byTime);
  const sets = displaySets(codec, packets);
  return sets.length === packets.length ? { packets: sets, untilMs: query.toMs } : undefined;
}

async function packetOfPlace(
  reading: Reading,
  { cluster: at, relative = 0 }: Place,
): Promise<PicturePacket | undefined> {
  const { source, track } = reading;
  const cluster = await clusterAt(source, at);
  const placed = cluster && (await placedAt(source, cluster.content + relative));
  const blocks = { source, tracks: new Map([[track.number, track]]), largest: LARGEST };
  const packet = cluster && placed && (await packetAt(blocks, placed, cluster.time));
  return packet && onFilm(reading, packet);
}

function onFilm({ scale, query }: Reading, { time, duration, bytes }: Packet): PicturePacket {
  return { timeMs: time * scale - query.startMs, durationMs: (duration ?? 0) * scale, bytes };
}

/** Clusters that begin in a stretch of the file, as far as the index names them. */
interface Unit {
  timeMs: number;
  at: number;
  end: number;
}

function unitsOf({ places, source }: Reading): Unit[] {
  const starts = new Map<number, number>();
  for (const { cluster, timeMs } of places) if (!starts.has(cluster)) starts.set(cluster, timeMs);
  const inOrder = [...starts].sort(([a], [b]) => a - b);
  return inOrder.map(([at, timeMs], i) => ({ timeMs, at, end: inOrder[i + 1]?.[0] ?? source.size }));
}

/** Packets by the heads of all blocks of the stretch, and of those before it until the screen is clear. */
async function byBlocks(reading: Reading): Promise<Found> {
  const { query, codec } = reading;
  const units = unitsOf(reading);
  if (units.length === 0) unsure('no index');
  const after = units.findIndex(({ timeMs }) => timeMs > query.fromMs);
  const first = Math.max((after < 0 ? units.length : after) - 1, 0);
  const last = units.findIndex(({ timeMs }) => timeMs >= query.toMs);
  const stretch = units.slice(first, last < 0 ? undefined : last);
  const { packets, untilMs } = await walked(reading, stretch);
  const clear = (): boolean =>
    displaySets(codec, packets.sort(byTime)).some(
      ({ timeMs, bytes }) => timeMs <= query.fromMs && clearsScreen(codec, bytes),
    );
  for (let next = first; next > 0 && !clear(); ) {
    const to = units[next]?.timeMs ?? 0;
    if (to < query.fromMs - MOST_BACK_MS || reading.source.loaded + reading.lost > MOST_READ) break;
    let begin = next - 1;
    while (begin > 0 && (units[begin]?.timeMs ?? 0) > to - BACK_STEP_MS) begin -= 1;
    packets.push(...(await walked(reading, units.slice(begin, next))).packets);
    next = begin;
  }
  return {
    packets: sinceClear(codec, displaySets(codec, packets.sort(byTime)), query),
    untilMs: Math.min(untilMs, query.toMs),
  };
}

/** From the last packet that clears the screen at or before the beginning. */
export function sinceClear(
  codec: PictureCodec,
  packets: readonly PicturePacket[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): PicturePacket[] {
  const start = packets.findLastIndex(({ timeMs, bytes }) => timeMs <= fromMs && clearsScreen(codec, bytes));
  return packets.slice(Math.max(start, 0)).filter(({ timeMs }) => timeMs < toMs && timeMs >= fromMs - MOST_BACK_MS);
}

/** Walks some clusters in several lanes. Ends early when the limit of bytes is reached. */
async function walked(reading: Reading, units: readonly Unit[]): Promise<Found> {
  const { file, query } = reading;
  const span = (units.at(-1)?.end ?? 0) - (units[0]?.at ?? 0);
  const window = span <= SMALL_SPAN ? LARGE_WINDOW : SMALL_WINDOW;
  const packets: PicturePacket[] = [];
  let next = 0;
  let untilMs = Number.POSITIVE_INFINITY;
  const sources: ByteSource[] = [];
  const read = (): number =>
    reading.lost + reading.source.loaded + sources.reduce((sum, { loaded }) => sum + loaded, 0);
  const lane = async (source: ByteSource): Promise<void> => {
    for (let unit = units[next]; unit; unit = units[next]) {
      query.signal.throwIfAborted();
      if (read() > MOST_READ) {
        untilMs = Math.min(untilMs, unit.timeMs);
        return;
      }
      next += 1;
      packets.push(...(await packetsIn({ ...reading, source }, unit)));
    }
  };
  try {
    const lanes = window === LARGE_WINDOW ? 1 : Math.min(LANES, units.length);
    for (let n = 0; n < lanes; n += 1) sources.push(await ByteSource.open(file, { window }));
    await Promise.all(sources.map(lane));
  } finally {
    reading.lost += sources.reduce((sum, { loaded }) => sum + loaded, 0);
    await Promise.all(sources.map((source) => source.close()));
  }
  return { packets, untilMs };
}

async function packetsIn(reading: Reading, unit: Unit): Promise<PicturePacket[]> {
  const { source, track, query } = reading;
  const blocks = { source, tracks: new Map([[track.number, track]]), largest: LARGEST };
  const packets: PicturePacket[] = [];
  let clusterTime = 0;
  for (let at = unit.at; at < unit.end; ) {
    const placed = await placedAt(source, at);
    if (!placed) break; // the file ends early, or is damaged from here on
    query.signal.throwIfAborted();
    const entered = placed.id === ID.cluster;
    if (placed.unknown && !entered) break;
    if (placed.id === ID.timestamp) clusterTime = uint(await source.read(placed.at, Math.min(8, placed.size)));
    const packet = await packetAt(blocks, placed, clusterTime);
    if (packet) packets.push(onFilm(reading, packet));
    at = entered ? placed.at : placed.at + placed.size;
  }
  return packets;
}
