import type { ByteSource } from '../byte-source.ts';
import { type Placed, placedAt, uint, vint } from './ebml.ts';
import { ID } from './ids.ts';

const SEARCH_BYTES = 8 * 1024 * 1024;
const FRAME_BYTES = 512;

export interface FirstFrame {
  /** In units of the segment's scale, before subtracting the codec's delay. */
  time: number;
  /** The beginning of the frame, after the lacing sizes of a laced block. */
  bytes: Buffer;
}

interface Search {
  source: ByteSource;
  wanted: ReadonlySet<number>;
  found: Map<number, FirstFrame>;
  end: number;
  clusterTime: number;
}

/** The first frame of each wanted track, searched in the first 8 MiB of clusters by their heads only. */
export async function firstFrames(
  source: ByteSource,
  cluster: Placed,
  wanted: ReadonlySet<number>,
): Promise<Map<number, FirstFrame>> {
  const end = Math.min(source.size, cluster.at + SEARCH_BYTES);
  const search: Search = { source, wanted, found: new Map(), end, clusterTime: 0 };
  let at = cluster.at;
  while (at < end && search.found.size < wanted.size) {
    const placed = await placedAt(source, at);
    if (!placed) break;
    at = await step(search, placed);
  }
  return search.found;
}

/** Examines one element and returns where the next begins: clusters and block groups are entered, others skipped. */
async function step(search: Search, placed: Placed): Promise<number> {
  if (placed.id === ID.cluster || placed.id === ID.blockGroup) return placed.at;
  if (placed.unknown) return search.end;
  if (placed.id === ID.timestamp)
    search.clusterTime = uint(await search.source.read(placed.at, Math.min(8, placed.size)));
  if (placed.id === ID.simpleBlock || placed.id === ID.block) await note(search, placed);
  return placed.at + placed.size;
}

async function note(search: Search, placed: Placed): Promise<void> {
  const head = await search.source.read(placed.at, Math.min(placed.size, FRAME_BYTES));
  const track = vint(head, 0);
  if (!track || head.length < track.length + 3) return;
  if (!search.wanted.has(track.value) || search.found.has(track.value)) return;
  const time = search.clusterTime + head.readInt16BE(track.length);
  search.found.set(track.value, { time, bytes: Buffer.from(head.subarray(track.length + 3)) });
}
