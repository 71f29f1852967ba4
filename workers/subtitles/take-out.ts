import { TELETEXT, textTrackKey } from '#areas/streaming/public.ts';
import { PICTURE_CAPTIONS } from '#platform/media.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import type { Objects } from '#platform/objects.ts';
import { Unsure } from '../probe/fault.ts';
import { FILE_CLOCK, guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';
import { matroskaTexts } from './matroska-texts.ts';
import { pictureCaptions } from './picture-captions.ts';
import type { TextSource } from './text-source.ts';

export const BUCKET = 'foyer-subtitles';

export interface TextTrack {
  /** As ffmpeg counts streams. */
  index: number;
  /** Our name of its codec. */
  format: string;
}

/** Extracts text tracks in one pass, once for all who need them. Returns those that were not stored yet. */
export async function takeOutTexts(
  source: TextSource,
  tracks: readonly TextTrack[],
  { objects, signal }: { objects: Objects; signal: AbortSignal },
): Promise<number[]> {
  const there = await Promise.all(tracks.map(({ index }) => objects.stat(BUCKET, textTrackKey(source, index))));
  const missing = tracks.filter((_, i) => there[i] === undefined);
  if (missing.length === 0 || signal.aborted) return [];
  const texts = await textsOf(source, missing, signal);
  await Promise.all([...texts].map(([index, text]) => objects.put(BUCKET, textTrackKey(source, index), text)));
  return [...texts.keys()];
}

/**
 * The texts of some tracks, by stream. Matroska is read by its index; for other containers ffmpeg reads what it needs.
 */
export async function textsOf(
  source: TextSource,
  tracks: readonly TextTrack[],
  signal: AbortSignal,
): Promise<Map<number, Buffer>> {
  if (tracks.some(isInPictures)) return withPictures(source, tracks, signal);
  if (!['matroska', 'webm'].includes(source.container)) return byFfmpeg(source, tracks, signal);
  try {
    const options = { indexes: tracks.map(({ index }) => index), startMs: source.startMs, signal };
    const texts = await matroskaTexts(source.file, options);
    return new Map([...texts].map(([index, text]) => [index, Buffer.from(text)]));
  } catch (error) {
    if (!(error instanceof Unsure)) throw error;
    return byFfmpeg(source, tracks, signal);
  }
}

const isInPictures = ({ index }: TextTrack): boolean => index === PICTURE_CAPTIONS;

/** Captions inside of the pictures are no stream for ffmpeg. */
async function withPictures(source: TextSource, tracks: readonly TextTrack[], signal: AbortSignal) {
  const streams = tracks.filter((track) => !isInPictures(track));
  const texts = streams.length > 0 ? await textsOf(source, streams, signal) : new Map<number, Buffer>();
  return texts.set(PICTURE_CAPTIONS, await pictureCaptions(source, signal));
}

const isSubstation = ({ format }: TextTrack): boolean => ['ass', 'ssa'].includes(format);

async function byFfmpeg(
  source: TextSource,
  tracks: readonly TextTrack[],
  signal: AbortSignal,
): Promise<Map<number, Buffer>> {
  const teletext = tracks.some(({ format }) => format === TELETEXT) ? AS_TEXT : [];
  const reading = [...guardsOf(source.container, source.file), ...teletext, ...FILE_CLOCK, '-vn', '-an', '-dn'];
  const command = {
    inputs: [{ file: ffmpegInput(source.file), options: reading }],
    outputs: tracks.map((track, i) => ({
      target: `pipe:${i === 0 ? 1 : i + 2}`,
      options: ['-map', `0:${track.index}`, ...(isSubstation(track) ? SUBSTATION : WEBVTT)],
      rendition: String(track.index),
    })),
  };
  const child = await startFfmpeg(ffmpegArguments(command), { outputs: tracks.length, gpu: false });
  const stop = (): void => child.kill();
  signal.addEventListener('abort', stop);
  const outputs = child.outputs.map(async (output) => Buffer.concat((await output.toArray()) as Buffer[]));
  const texts = await Promise.all(outputs);
  const { code, words } = await child.ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`subtitles: ${words.slice(-300)}`);
  return new Map(tracks.map(({ index }, i) => [index, texts[i] ?? Buffer.alloc(0)]));
}

/** Subtitle pages of teletext: each stays until the next, which may be empty. */
const AS_TEXT = ['-fix_sub_duration', '-txt_format', 'text', '-txt_page', 'subtitle'];
const SUBSTATION = ['-c:s', 'ass', '-f', 'ass'];
const WEBVTT = ['-c:s', 'webvtt', '-f', 'webvtt'];
