// Single pictures out of media files, by ffmpeg.

import type { Readable } from 'node:stream';
import { ARTWORK_BYTES } from '#kernel/images.ts';
import type { ProbedFile, ProbedStream } from '#platform/media.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';
import { toneMap } from '../transcode/filters.ts';

const PATIENCE_MS = 15_000;
const MOST_WIDTH = 1920;

/** A file that is opened by its absolute path. */
export interface Source {
  file: string;
  probe: ProbedFile;
}

interface Run {
  reading: string[];
  writing: string[];
  /** Ends the work early, in addition to the time limit. */
  signal: AbortSignal;
}

/** The bytes of the picture of a stream as the file has them; undefined when it has none. */
export function embeddedPicture(source: Source, index: number, signal: AbortSignal): Promise<Buffer | undefined> {
  const writing = ['-map', `0:${index}`, '-c:v', 'copy', '-frames:v', '1', '-f', 'image2pipe'];
  return onePicture(source, { reading: [], writing, signal });
}

/** The film's picture stream; undefined for a file without one. */
export const filmStream = (probe: ProbedFile): ProbedStream | undefined =>
  probe.streams.find((stream) => stream.kind === 'video' && !stream.attachedPicture);

interface FrameAt {
  positionMs: number;
  /** The nearest keyframe before the position instead of the exact frame: cheap wherever it is. */
  key: boolean;
}

/** A frame as JPEG, without HDR, deinterlaced and with square pixels; undefined when the file has none there. */
export async function frameOf(
  source: Source,
  { positionMs, key }: FrameAt,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const stream = filmStream(source.probe);
  if (!stream) return undefined;
  const atSec = ((positionMs + source.probe.startMs) / 1000).toFixed(3);
  const reading = ['-copyts', '-ss', atSec, ...(key ? ['-noaccurate_seek', '-skip_frame', 'nokey'] : [])];
  const filters = [
    ...(stream.interlaced ? ['bwdif=mode=send_frame'] : []),
    `scale=w='min(${MOST_WIDTH},iw*if(gt(sar,0),sar,1))':h=-2:flags=bicubic`,
    ...(stream.hdr ? toneMap(stream.hdr === 'hlg' ? 'hlg' : 'pq') : []),
    'setsar=1',
    'format=yuvj420p',
  ];
  const writing = [
    ...['-map', `0:${stream.index}`, '-frames:v', '1', '-vf', filters.join(',')],
    ...['-c:v', 'mjpeg', '-q:v', '2', '-f', 'image2pipe'],
  ];
  return onePicture(source, { reading, writing, signal });
}

async function onePicture({ file, probe }: Source, { reading, writing, signal }: Run): Promise<Buffer | undefined> {
  const args = ffmpegArguments({
    inputs: [
      { file: ffmpegInput(file), options: [...guardsOf(probe.container, file), ...reading, '-an', '-sn', '-dn'] },
    ],
    outputs: [{ target: 'pipe:1', options: [...writing, '-threads', '2'], rendition: 'picture' }],
  });
  const child = await startFfmpeg(args, { outputs: 1, gpu: false });
  const stop = (): void => child.kill();
  const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  late.addEventListener('abort', stop, { once: true });
  try {
    const [output] = child.outputs;
    const bytes = output && (await bounded(output, stop));
    const { code } = await child.ended;
    signal.throwIfAborted();
    return code === 0 && bytes && bytes.length > 0 ? bytes : undefined;
  } finally {
    late.removeEventListener('abort', stop);
    child.kill();
  }
}

/** All bytes; undefined, and the process is stopped, when there are more than a picture may have. */
async function bounded(output: Readable, stop: () => void): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ARTWORK_BYTES) {
      stop();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
