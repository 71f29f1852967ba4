import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSpace } from '#platform/disk.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { unsure } from '../probe/fault.ts';
import { FILE_CLOCK, guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';
import { clearsScreen } from './display-sets.ts';
import { type Candidate, lookAtCopy, type Stretch } from './matroska-look.ts';
import { matroskaPictures, type PictureStretch } from './matroska-pictures.ts';
import type { PictureQuery } from './matroska-places.ts';

export interface ForeignFilm {
  /** Absolute path. */
  file: string;
  container: string;
  scratchDir: string;
  /** How long ffmpeg may take for a copy; absent is 15 minutes. */
  patienceMs?: number;
}

/** How far before a stretch packets are looked for that build the picture at its beginning; the second when the first finds none. */
const BACK_MS = [30_000, 300_000];
/** Limit of the copy, a little more than a stretch may have. */
const MOST_COPIED = 40 << 20;

/** A copy that takes longer is given up: ffmpeg hangs on some damaged files. */
const PATIENCE_MS = 900_000;

/** Packets of a picture track in another container than Matroska. Undefined when ffmpeg cannot read it. */
export async function foreignPictures(film: ForeignFilm, query: PictureQuery): Promise<PictureStretch | undefined> {
  return inScratch(film, async (folder) => {
    let found: PictureStretch | undefined;
    for (const back of BACK_MS) {
      const part = { ...query, indexes: [query.index], fromMs: Math.max(0, query.fromMs - back) };
      const copied = await copyTracks(film, part, folder);
      if (!copied) return undefined;
      found = await matroskaPictures(copied, { ...query, index: 0, startMs: 0 });
      const { codec, packets } = found;
      if (query.fromMs <= back || packets.some(isClearBefore(codec, query.fromMs))) break;
    }
    return found;
  });
}

/** Looks at the candidates in a stretch of the film. Throws Unsure when ffmpeg cannot read it. */
export async function lookAtForeign(
  film: ForeignFilm,
  candidates: readonly Candidate[],
  stretch: Stretch & Pick<PictureQuery, 'signal'>,
): Promise<void> {
  const open = candidates.filter(({ isPlain }) => !isPlain);
  await inScratch(film, async (folder) => {
    const part = { ...stretch, indexes: open.map(({ index }) => index) };
    const file = (await copyTracks(film, part, folder)) ?? unsure('ffmpeg cannot read the tracks');
    await lookAtCopy({ file, signal: stretch.signal }, open);
  });
}

/** With a folder for copies, which is removed afterwards. */
async function inScratch<T>({ scratchDir }: ForeignFilm, work: (folder: string) => Promise<T>): Promise<T> {
  await requireSpace(scratchDir);
  await mkdir(scratchDir, { recursive: true });
  const folder = await mkdtemp(join(scratchDir, 'pictures-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isClearBefore =
  (codec: PictureStretch['codec'], fromMs: number) =>
  ({ timeMs, bytes }: PictureStretch['packets'][number]): boolean =>
    timeMs <= fromMs && clearsScreen(codec, bytes);

interface Part extends Pick<PictureQuery, 'fromMs' | 'toMs' | 'signal'> {
  indexes: readonly number[];
}

/** Copies a part of some tracks into a Matroska file, which our own reader reads. */
async function copyTracks(
  { file, container, patienceMs = PATIENCE_MS }: ForeignFilm,
  { indexes, fromMs, toMs, signal }: Part,
  folder: string,
): Promise<string | undefined> {
  const target = join(folder, 'tracks.mkv');
  const part = ['-ss', (fromMs / 1000).toFixed(3), '-t', ((toMs - fromMs) / 1000).toFixed(3)];
  const reading = [...guardsOf(container, file), ...FILE_CLOCK, ...part, '-vn', '-an', '-dn'];
  const maps = indexes.flatMap((index) => ['-map', `0:${index}`]);
  const writing = [...maps, '-c', 'copy', '-fs', String(MOST_COPIED), '-f', 'matroska', '-y'];
  const child = await startFfmpeg(
    ffmpegArguments({
      inputs: [{ file: ffmpegInput(file), options: reading }],
      outputs: [{ target: `file:${target}`, options: writing, rendition: '0' }],
    }),
    { outputs: 1, gpu: false },
  );
  const late = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const stop = (): void => child.kill();
  late.addEventListener('abort', stop, { once: true });
  if (late.aborted) stop();
  const { code } = await child.ended;
  late.removeEventListener('abort', stop);
  signal.throwIfAborted();
  return code === 0 ? target : undefined;
}
