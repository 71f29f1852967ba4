// Matroska films with picture subtitles, written element by element; one of them of 60 GB, nearly all of it holes.
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { ID } from '#workers/probe/matroska/ids.ts';

/** The head of an EBML element. */
function head(id: number, size: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(size) | (1n << 56n));
  return Buffer.concat([Buffer.from(id.toString(16), 'hex'), length]);
}
const element = (id: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([head(id, body.length), body]);
};
const uint = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
};
const text = (id: number, value: string): Buffer => element(id, Buffer.from(value));
const blockHead = (track: number, ms: number): Buffer => {
  const bytes = Buffer.from([0x80 | track, 0, 0, 0]);
  bytes.writeInt16BE(ms, 1);
  return bytes;
};
export const block = (track: number, ms: number, content: Buffer): Buffer =>
  element(ID.simpleBlock, blockHead(track, ms), content);
export const cluster = (ms: number, ...blocks: Buffer[]): Buffer =>
  element(ID.cluster, uint(ID.timestamp, ms), ...blocks);
const track = (number: number, type: number, ...content: Buffer[]): Buffer =>
  element(ID.track, uint(ID.number, number), uint(ID.uid, number), uint(ID.type, type), ...content);
const codecOf = (name: string): Buffer => text(ID.codec, name);
const VIDEO = track(1, 1, codecOf('V_VP9'));
const HEADS = [
  element(ID.info, uint(ID.scale, 1_000_000)),
  element(ID.tracks, VIDEO, track(2, 17, codecOf('S_HDMV/PGS'))),
];
const EBML = element(ID.ebml, text(ID.docType, 'matroska'));

/** A film of VP9 and PGS of these clusters. */
export const film = (...clusters: Buffer[]): Buffer =>
  Buffer.concat([EBML, element(ID.segment, ...HEADS, ...clusters)]);

interface PictureTrack {
  codec: string;
  codecPrivate: Buffer;
  packets: readonly { timeMs: number; bytes: Buffer }[];
}

/** A film of VP9 and a picture track. Its blocks begin without the bytes of `stripped`, which the head of the track names. */
export function pictureFilm({ codec, codecPrivate, packets }: PictureTrack, stripped: Buffer): Buffer {
  const compression = element(
    ID.compression,
    uint(ID.compressionAlgorithm, 3),
    element(ID.compressionSettings, stripped),
  );
  const encodings = stripped.length > 0 ? [element(ID.encodings, element(ID.encoding, compression))] : [];
  const own = track(2, 17, codecOf(codec), element(ID.codecPrivate, codecPrivate), ...encodings);
  const clusters = packets.map(({ timeMs, bytes }) =>
    cluster(timeMs, block(1, 0, Buffer.alloc(50)), block(2, 0, bytes.subarray(stripped.length))),
  );
  const heads = [element(ID.info, uint(ID.scale, 1_000_000)), element(ID.tracks, VIDEO, own)];
  return Buffer.concat([EBML, element(ID.segment, ...heads, ...clusters)]);
}

const [CLUSTER_MS, CLUSTERS, BLOCKS] = [2000, 3600, 110];
const CLUSTER_SIZE = Math.floor((60 * 2 ** 30) / CLUSTERS);

/** Two hours whose index names the pictures of the film alone. Most of its bytes are holes. */
export function writeLargeFilm(path: string, picture: Buffer): void {
  const cue = (n: number, first: number): Buffer =>
    element(
      ID.cuePoint,
      uint(ID.cueTime, n * CLUSTER_MS),
      element(ID.cuePositions, uint(ID.cueTrack, 1), uint(ID.cueCluster, first + n * CLUSTER_SIZE)),
    );
  const cuesOf = (first: number): Buffer =>
    element(ID.cues, ...Array.from({ length: CLUSTERS }, (_, n) => cue(n, first)));
  const first = HEADS.reduce((sum, one) => sum + one.length, cuesOf(0).length);
  const start = Buffer.concat([EBML, head(ID.segment, first + CLUSTERS * CLUSTER_SIZE), ...HEADS, cuesOf(first)]);
  const file = openSync(path, 'w');
  writeSync(file, start, 0, start.length, 0);
  for (let n = 0; n < CLUSTERS; n += 1) writeCluster(file, start.length + n * CLUSTER_SIZE, { n, picture });
  closeSync(file);
  truncateSync(path, start.length + CLUSTERS * CLUSTER_SIZE);
}

/** Heads of blocks of the film and, every ten seconds, a picture of the subtitle after them. */
function writeCluster(file: number, at: number, { n, picture }: { n: number; picture: Buffer }): void {
  const begin = Buffer.concat([head(ID.cluster, CLUSTER_SIZE - 12), uint(ID.timestamp, n * CLUSTER_MS)]);
  const last = n % 5 === 0 ? block(2, 0, picture) : Buffer.alloc(0);
  writeSync(file, begin, 0, begin.length, at);
  const blocks = n > 1400 && n < 1900 ? BLOCKS : 1; // the rest of the film is never visited
  const space = CLUSTER_SIZE - begin.length - last.length;
  const size = Math.floor(space / blocks);
  for (let i = 0; i < blocks; i += 1) {
    const length = i === blocks - 1 ? space - size * (blocks - 1) : size;
    const block = Buffer.concat([head(ID.simpleBlock, length - 9), blockHead(1, i * 10)]);
    writeSync(file, block, 0, block.length, at + begin.length + i * size);
  }
  writeSync(file, last, 0, last.length, at + begin.length + space);
}
