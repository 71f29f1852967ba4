import { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { placedAt, uint } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { layoutOf, section } from '../probe/matroska/layout.ts';
import { number, type Track, tracksOf } from '../probe/matroska/tracks.ts';
import { clearsScreen, displaySets, type PictureCodec, type PicturePacket } from './display-sets.ts';
import { clusterAt, type Packet, packetAt } from './matroska-packets.ts';
import { type PictureQuery, type Place, placesIn } from './matroska-places.ts';

const CODECS: Readonly<Record<string, PictureCodec>> = { 'S_HDMV/PGS': 'pgs', S_VOBSUB: 'vobsub' };

/** Limit of a block of pictures. */
const LARGEST = 4 << 20;
/** A stretch of so many bytes is read as a whole; in a longer one the reader jumps from block to block. */
const SMALL_SPAN = 32 << 20;
const LARGE_WINDOW = 1 << 20;
const SMALL_WINDOW = 256;
const LANES = 4;
/** No picture is shown for longer, so a packet before that is not looked for. */
const MOST_BACK_MS = 300_000;
const BACK_STEP_MS = 20_000;

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
    const { track, codec } = pictureTrackOf((await section(source, layout, ID.tracks)) ?? unsure('no Tracks'), query);
    const info = (await section(source, layout, ID.info)) ?? unsure('no Info');
    const scale = number(info, ID.scale, 1_000_000) / 1_000_000;
    const places = await placesIn(source, layout, { scale, ...query });
    const reading: Reading = { file, source, track, codec, scale, places, query, lost: 0 };
    const found = (await byIndex(reading)) ?? (await byBlocks(reading));
    return { codec, header: track.codecPrivate.toString('utf8'), ...found, loaded: source.loaded + reading.lost };
  } finally {
    await source.close();
  }
}

/** A picture track in the content of Tracks. Throws Unsure when it is none, or our reader cannot unpack it. */
export function pictureTrackOf(
  tracks: Buffer,
  { index }: Pick<PictureQuery, 'index'>,
): { track: Track; codec: PictureCodec } {
  const track = tracksOf(tracks)[index];
  const codec = CODECS[track?.codec ?? ''];
  if (!track || !codec || (track.packed && !track.zipped)) unsure('not a picture track');
  return { track, codec };
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

const byTime = (a: PicturePacket, b: PicturePacket): number => a.timeMs - b.timeMs;

/** Packets where the index names each block of the track. Undefined where it does not. */
async function byIndex(reading: Reading): Promise<Found | undefined> {
  const { places, track, query, codec } = reading;
  const own = places.filter((place) => place.track === track.number);
  if (own.length === 0 || own.some(({ relative }) => relative === undefined)) return undefined;
  const first = own.findIndex(({ timeMs }) => timeMs >= query.fromMs);
  const begin = first < 0 ? own.length : first;
  const stretch = own.slice(begin).filter(({ timeMs }) => timeMs < query.toMs);
  const found = await takeAll(reading, stretch);
  const packets = [...(await takeBack(reading, own.slice(0, begin))), ...found.packets].sort(byTime);
  const sets = displaySets(codec, packets);
  return sets.length === packets.length ? { packets: sets, untilMs: found.untilMs } : undefined;
}

/** The packets of these places, until too much was read. */
async function takeAll(reading: Reading, places: readonly Place[]): Promise<Found> {
  const { source, query } = reading;
  const packets: PicturePacket[] = [];
  for (const place of places) {
    query.signal.throwIfAborted();
    if (source.loaded > query.mostRead) return { packets, untilMs: place.timeMs };
    const packet = await packetOfPlace(reading, place);
    if (packet) packets.push(packet);
  }
  return { packets, untilMs: query.toMs };
}

/** The packets of the last of these places, back to one that clears the screen. */
async function takeBack(reading: Reading, places: readonly Place[]): Promise<PicturePacket[]> {
  const { query, codec } = reading;
  const packets: PicturePacket[] = [];
  for (const place of places.toReversed()) {
    if (place.timeMs <= query.fromMs - MOST_BACK_MS) break;
    query.signal.throwIfAborted();
    const packet = await packetOfPlace(reading, place);
    if (packet) packets.push(packet);
    if (packet && clearsScreen(codec, packet.bytes)) break;
  }
  return packets;
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
  const first = Math.max(
    units.findLastIndex(({ timeMs }) => timeMs <= query.fromMs),
    0,
  );
  const stretch = units.slice(first).filter(({ timeMs }, n) => n === 0 || timeMs < query.toMs);
  const { packets, untilMs } = await walked(reading, stretch);
  for (let next = first; next > 0 && !isClear(reading, packets); ) {
    const to = units[next]?.timeMs ?? 0;
    if (to < query.fromMs - MOST_BACK_MS || reading.source.loaded + reading.lost > query.mostRead) break;
    const back = Math.min(units.findLastIndex(({ timeMs }) => timeMs <= to - BACK_STEP_MS) + 1, next - 1);
    packets.push(...(await walked(reading, units.slice(back, next))).packets);
    next = back;
  }
  return {
    packets: sinceClear(codec, displaySets(codec, packets.sort(byTime)), query),
    untilMs: Math.min(untilMs, query.toMs),
  };
}

/** True when a packet at or before the beginning clears the screen. */
function isClear({ codec, query }: Reading, packets: PicturePacket[]): boolean {
  return displaySets(codec, packets.sort(byTime)).some(
    ({ timeMs, bytes }) => timeMs <= query.fromMs && clearsScreen(codec, bytes),
  );
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
      if (read() > query.mostRead) {
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
