// Picture tracks of Matroska files, looked at until each has shown a picture that is not forced.
import { ByteSource } from '../probe/byte-source.ts';
import { unsure } from '../probe/fault.ts';
import { type Placed, placedAt } from '../probe/matroska/ebml.ts';
import { ID } from '../probe/matroska/ids.ts';
import { type Layout, layoutOf, section } from '../probe/matroska/layout.ts';
import { number, type Track } from '../probe/matroska/tracks.ts';
import { isForced, type PictureCodec, showsPicture } from './display-sets.ts';
import { clusterAt, packetAt } from './matroska-packets.ts';
import { pictureTrackOf } from './matroska-pictures.ts';
import { indexedPlaces, type Place } from './matroska-places.ts';

/** A picture track, and what its pictures were so far. */
export interface Candidate {
  /** As ffmpeg counts streams. */
  index: number;
  isShown: boolean;
  /** It showed a picture that is not forced, so it is not looked at any more. */
  isPlain: boolean;
}

/** A part of the film, on the clock of the film. */
export interface Stretch {
  fromMs: number;
  toMs: number;
}

/** Small, because most reads are of the head of one block. */
const WINDOW = 256;
/** Limit of a block of pictures. */
const LARGEST = 4 << 20;
/** The index of a film of three hours with 30 picture tracks has about 2 MiB. */
const LARGEST_INDEX = 8 << 20;
/** Of one stretch: for tracks in the index, and for those that are not, which have one read for each block of the film. */
const MOST_READ = 2 << 20;
/** Pictures of one stretch: an index may name one block many times. */
const MOST_PLACES = 4096;

interface Judged extends Track {
  pictures: PictureCodec;
  candidate: Candidate;
}

interface Look {
  source: ByteSource;
  layout: Layout;
  /** Tracks that are not plain yet, by number. */
  open: Map<number, Judged>;
  signal: AbortSignal;
}

/** Looks at the candidates in these stretches of a film. Throws Unsure for a file without an index. */
export async function lookAtFilm(
  film: { file: string; startMs: number; signal: AbortSignal },
  candidates: readonly Candidate[],
  stretches: readonly Stretch[],
): Promise<void> {
  const source = await ByteSource.open(film.file, { window: WINDOW });
  try {
    const look = await opened({ ...film, source }, new Map(candidates.map((one) => [one.index, one])));
    const places = await placesOf(look, film.startMs);
    const inIndex = new Set(places.map(({ track }) => track));
    for (const { track, relative } of places) if (relative === undefined) inIndex.delete(track);
    for (const stretch of stretches) {
      await lookByIndex(
        look,
        placesIn(places, stretch).filter(({ track }) => inIndex.has(track)),
      );
      await lookByBlocks(look, inIndex, { places, stretch });
    }
  } finally {
    await source.close();
  }
}

/** Looks at a whole small file, whose tracks are the candidates in their order. */
export async function lookAtCopy(
  { file, signal }: { file: string; signal: AbortSignal },
  candidates: readonly Candidate[],
): Promise<void> {
  const source = await ByteSource.open(file);
  try {
    const look = await opened({ source, signal }, new Map(candidates.entries()));
    const { open, layout } = look;
    if (layout.firstCluster) await walk(look, open, { from: layout.firstCluster.at, end: source.size });
  } finally {
    await source.close();
  }
}

async function opened(
  { source, signal }: Pick<Look, 'source' | 'signal'>,
  candidates: ReadonlyMap<number, Candidate>,
): Promise<Look> {
  const layout = await layoutOf(source);
  const tracks = (await section(source, layout, ID.tracks)) ?? unsure('no Tracks');
  const open = new Map<number, Judged>();
  for (const [index, candidate] of candidates) {
    if (candidate.isPlain) continue;
    const { track, codec } = pictureTrackOf(tracks, { index });
    open.set(track.number, { ...track, pictures: codec, candidate });
  }
  return { source, layout, open, signal };
}

async function placesOf({ source, layout }: Look, startMs: number): Promise<Place[]> {
  if ((layout.sections.get(ID.cues)?.size ?? 0) > LARGEST_INDEX) unsure('a large index');
  const info = (await section(source, layout, ID.info)) ?? unsure('no Info');
  const scale = number(info, ID.scale, 1_000_000) / 1_000_000;
  return (await indexedPlaces(source, layout, { scale, startMs })) ?? unsure('no index');
}

const placesIn = (places: readonly Place[], { fromMs, toMs }: Stretch): Place[] =>
  places.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);

/** In order of time, so that each track has its part of the bytes. */
async function lookByIndex(look: Look, places: readonly Place[]): Promise<void> {
  const { source, open, signal } = look;
  const most = source.loaded + MOST_READ;
  const due = places.filter((place) => open.has(place.track)).slice(0, MOST_PLACES);
  for (const { track, cluster: at, relative = 0 } of due) {
    signal.throwIfAborted();
    if (source.loaded > most) return;
    if (!open.has(track)) continue;
    const cluster = await clusterAt(source, at);
    const placed = cluster && (await placedAt(source, cluster.content + relative));
    const packet = placed && (await packetAt({ source, tracks: open, largest: LARGEST }, placed, 0));
    if (packet) judge(open, packet);
  }
}

/** Tracks that the index does not name, by the heads of all blocks. */
async function lookByBlocks(
  look: Look,
  inIndex: ReadonlySet<number>,
  { places, stretch }: { places: readonly Place[]; stretch: Stretch },
): Promise<void> {
  const others = new Map([...look.open].filter(([track]) => !inIndex.has(track)));
  const from = (places.findLast(({ timeMs }) => timeMs <= stretch.fromMs) ?? places[0])?.cluster;
  const end = places.find(({ timeMs }) => timeMs >= stretch.toMs)?.cluster ?? look.source.size;
  if (from !== undefined) await walk(look, others, { from, end, mostRead: MOST_READ });
}

interface Walk {
  /** In the file. */
  from: number;
  end: number;
  mostRead?: number;
}

/** Ends as soon as each of the tracks is plain. */
async function walk({ source, open, signal }: Look, tracks: Map<number, Judged>, { from, end, mostRead = end }: Walk) {
  const most = source.loaded + mostRead;
  for (let at = from; at < end && tracks.size > 0 && source.loaded < most; ) {
    signal.throwIfAborted();
    const placed = await placedAt(source, at);
    if (!placed || isEndless(placed)) return; // the file ends early, or is damaged from here on
    const packet = await packetAt({ source, tracks, largest: LARGEST }, placed, 0);
    if (packet && judge(tracks, packet)) open.delete(packet.track);
    at = placed.id === ID.cluster ? placed.at : placed.at + placed.size;
  }
}

const isEndless = ({ id, unknown }: Placed): boolean => unknown && id !== ID.cluster;

/** True for a picture that is not forced: its track leaves the map. */
function judge(tracks: Map<number, Judged>, { track, bytes }: { track: number; bytes: Buffer }): boolean {
  const judged = tracks.get(track);
  if (!judged || !showsPicture(judged.pictures, bytes)) return false;
  judged.candidate.isShown = true;
  if (isForced(judged.pictures, bytes)) return false;
  judged.candidate.isPlain = true;
  return tracks.delete(track);
}
