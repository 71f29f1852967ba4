// ffmpeg over a whole file or a part of it, its output taken as it comes.

import type { Readable } from 'node:stream';
import type { ProbedFile } from '#platform/media.ts';
import { ffmpegInput } from '#platform/media-bytes.ts';
import { guardsOf } from '../transcode/command.ts';
import { ffmpegArguments, startFfmpeg } from '../transcode/ffmpeg.ts';

export interface Reading {
  /** Absolute path. */
  file: string;
  probe: Pick<ProbedFile, 'container'>;
  /** Options of the input. */
  reading: readonly string[];
  /** Options of further inputs of the same file. */
  again?: readonly (readonly string[])[];
  /** Options of each output; their bytes arrive in the readers of the same place. */
  outputs: readonly { writing: readonly string[]; take: (output: AsyncIterable<Buffer>) => Promise<void> }[];
  signal: AbortSignal;
  /** The process is stopped after this long. */
  patienceMs: number;
}

/** The process was killed from outside, as by a machine without free memory: the file may be fine. */
export class FfmpegKilled extends Error {}

/**
 * True when ffmpeg read the file to its end; false for a file that it cannot read, or takes too long for. Throws
 * `FfmpegKilled`, after which the file is tried again later, as after a lost worker.
 */
export async function readByFfmpeg({ file, probe, reading, again = [], outputs, ...rest }: Reading): Promise<boolean> {
  const args = ffmpegArguments({
    inputs: [reading, ...again].map((options) => ({
      file: ffmpegInput(file),
      options: [...guardsOf(probe.container, file), ...options],
    })),
    outputs: outputs.map(({ writing }, i) => ({
      ...{ target: i === 0 ? 'pipe:1' : `pipe:${i + 2}`, options: [...writing], rendition: String(i) },
    })),
  });
  const child = await startFfmpeg(args, { outputs: outputs.length, gpu: false });
  const late = AbortSignal.any([rest.signal, AbortSignal.timeout(rest.patienceMs)]);
  const stop = (): void => child.kill();
  late.addEventListener('abort', stop, { once: true });
  try {
    if (late.aborted) stop();
    await Promise.all(outputs.map(({ take }, i) => take(child.outputs[i] as Readable)));
    const { code, signal } = await child.ended;
    rest.signal.throwIfAborted();
    if (signal === 'SIGKILL' && !late.aborted) throw new FfmpegKilled('ffmpeg was killed');
    return code === 0;
  } finally {
    late.removeEventListener('abort', stop);
    child.kill();
  }
}

/** The whole output, at most `most` bytes of it. */
export async function collect(output: AsyncIterable<Buffer>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output) {
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
