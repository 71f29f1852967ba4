import { forgetRemovedTrickplay, saveTrickplay, trickplayKey } from '#areas/streaming/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { ProbedStream } from '#platform/media.ts';
import { filmStream } from '../artwork/still.ts';
import { toneMap } from '../transcode/filters.ts';
import type { Work } from '../work.ts';
import { type AnalysedFile, eachFile, type Finding } from './each-file.ts';
import { readByFfmpeg } from './run.ts';

const INTERVAL_MS = 10_000;
/** Of one file: a day of film. Longer ones have them further apart. */
const MOST_THUMBS = 8640;
const WIDTH = 320;
const SIDE = 10;
/** Of one sheet. */
const MOST_BYTES = 32 << 20;
const PATIENCE_MS = 3_600_000;

/** Makes the preview thumbnails of the files that wait for them. */
export function makePreviews({ libraryId }: JobPayload<'analysis.previews'>, work: Work): Promise<object> {
  return eachFile(work, { name: 'previewThumbnails', libraryId, each: (file) => previewsOf(file, work) });
}

/** How the thumbnails of a file are laid out. */
export interface Layout {
  intervalMs: number;
  thumbs: number;
  columns: number;
  rows: number;
  sheets: number;
}

export function layoutOf(durationMs: number): Layout {
  const intervalMs = Math.max(INTERVAL_MS, Math.ceil(durationMs / MOST_THUMBS));
  const thumbs = Math.max(1, Math.ceil(durationMs / intervalMs));
  const [columns, rows] = [Math.min(SIDE, thumbs), Math.min(SIDE, Math.ceil(thumbs / SIDE))];
  return { intervalMs, thumbs, columns, rows, sheets: Math.ceil(thumbs / (columns * rows)) };
}

/** Of the picture as it is shown, with square pixels. */
const HEIGHT = `clip(trunc(${WIDTH / 2}*ih/(iw*if(gt(sar,0),sar,1)))*2,20,640)`;

/** The options that decode keyframes only, keep the nearest one to each interval, and tile them into sheets. */
export function thumbnailOptions(stream: ProbedStream, { intervalMs, thumbs, columns, rows }: Layout) {
  const filters = [
    `fps=fps=1000/${intervalMs}:start_time=0:eof_action=pass`,
    'tpad=stop=-1:stop_mode=clone',
    `trim=end_frame=${thumbs}`,
    `scale=w=${WIDTH}:h='${HEIGHT}':flags=bilinear`,
    ...(stream.hdr ? toneMap(stream.hdr === 'hlg' ? 'hlg' : 'pq') : []),
    'setsar=1',
    'format=yuv420p',
    `tile=layout=${columns}x${rows}`,
  ];
  const writing = [
    ...['-map', `0:${stream.index}`, '-vf', filters.join(','), '-fps_mode', 'passthrough'],
    ...['-c:v', 'libwebp', '-quality', '75', '-compression_level', '2', '-f', 'image2pipe'],
  ];
  return { reading: ['-skip_frame', 'nokey', '-an', '-sn', '-dn'], writing };
}

async function previewsOf(source: AnalysedFile, { db, objects, signal }: Work): Promise<Finding> {
  const { id, file, probe } = source;
  const stream = filmStream(probe);
  if (!stream) return { state: 'not-found' };
  const { sheets: wanted, ...layout } = layoutOf(probe.durationMs);
  let [sheets, bytes, height] = [0, 0, 0];
  await forgetRemovedTrickplay(db, id);
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    for await (const sheet of webpPictures(output)) {
      await objects.put('foyer-derived', trickplayKey(id, WIDTH, sheets), sheet);
      height = heightOf(sheet) / layout.rows;
      sheets += 1;
      bytes += sheet.length;
    }
  };
  const { reading, writing } = thumbnailOptions(stream, { ...layout, sheets: wanted });
  await readByFfmpeg({ file, probe, reading, outputs: [{ writing, take }], signal, patienceMs: PATIENCE_MS });
  // A file that breaks off still has thumbnails up to there, the last one held to its end.
  if (sheets < wanted) return { state: 'not-found' };
  return {
    state: 'done',
    save: (transaction) =>
      saveTrickplay(transaction, {
        ...{
          file_id: id,
          width: WIDTH,
          height,
          columns: layout.columns,
          rows: layout.rows,
          thumbs: layout.thumbs,
          sheets,
        },
        ...{ interval_ms: layout.intervalMs, duration_ms: probe.durationMs, size_bytes: bytes },
      }),
  };
}

/** The height in pixels of a lossy WebP picture. */
const heightOf = (sheet: Buffer): number => sheet.readUInt16LE(28) & 0x3fff;

/** Single pictures of a stream of WebP files, each of which begins with its length. */
export async function* webpPictures(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output) {
    chunks.push(chunk);
    size += chunk.length;
    for (;;) {
      const [first] = chunks;
      if (!first || size < 8) break;
      const head = first.length >= 8 ? first : Buffer.concat(chunks);
      const length = head.readUInt32LE(4) + 8;
      if (length > MOST_BYTES) throw new Error('a sheet of thumbnails is too large');
      if (size < length) break;
      const all = Buffer.concat(chunks);
      yield all.subarray(0, length);
      chunks = [all.subarray(length)];
      size -= length;
    }
  }
}
