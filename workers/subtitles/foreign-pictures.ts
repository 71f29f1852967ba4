import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSpace } from '#platform/disk.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { FILE_CLOCK, guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';
import { clearsScreen } from './display-sets.ts';
import { matroskaPictures, type PictureStretch } from './matroska-pictures.ts';
import type { PictureQuery } from './matroska-places.ts';

export interface ForeignFilm {
  /** Absolute path. */
  file: string;
  container: string;
  scratchDir: string;
}

/** How far before a stretch packets are looked for that build the picture at its beginning; the second when the first finds none. */
const BACK_MS = [30_000, 300_000];
/** Limit of the copy, a little more than a stretch may have. */
const MOST_COPIED = 40 << 20;

/** Packets of a picture track in another container than Matroska. Undefined when ffmpeg cannot read it. */
export async function foreignPictures(film: ForeignFilm, query: PictureQuery): Promise<PictureStretch | undefined> {
  await requireSpace(film.scratchDir);
  await mkdir(film.scratchDir, { recursive: true });
  const folder = await mkdtemp(join(film.scratchDir, 'pictures-'));
  try {
    let found: PictureStretch | undefined;
    for (const back of BACK_MS) {
      const copied = await copyTrack(film, { ...query, fromMs: Math.max(0, query.fromMs - back) }, folder);
      if (!copied) return undefined;
      found = await matroskaPictures(copied, { ...query, index: 0, startMs: 0 });
      const { codec, packets } = found;
      if (query.fromMs <= back || packets.some(isClearBefore(codec, query.fromMs))) break;
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isClearBefore =
  (codec: PictureStretch['codec'], fromMs: number) =>
  ({ timeMs, bytes }: PictureStretch['packets'][number]): boolean =>
    timeMs <= fromMs && clearsScreen(codec, bytes);

/** Copies a part of the track into a Matroska file, which our own reader reads. */
async function copyTrack(
  { file, container }: ForeignFilm,
  { index, fromMs, toMs, signal }: PictureQuery,
  folder: string,
): Promise<string | undefined> {
  const target = join(folder, 'track.mkv');
  const part = ['-ss', (fromMs / 1000).toFixed(3), '-t', ((toMs - fromMs) / 1000).toFixed(3)];
  const reading = [...guardsOf(container, file), ...FILE_CLOCK, ...part, '-vn', '-an', '-dn'];
  const writing = ['-map', `0:${index}`, '-c', 'copy', '-fs', String(MOST_COPIED), '-f', 'matroska', '-y'];
  const child = await startFfmpeg(
    ffmpegArguments({
      inputs: [{ file: ffmpegInput(file), options: reading }],
      outputs: [{ target: `file:${target}`, options: writing, rendition: '0' }],
    }),
    { outputs: 1, gpu: false },
  );
  const stop = (): void => child.kill();
  signal.addEventListener('abort', stop);
  const { code } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  return code === 0 ? target : undefined;
}
