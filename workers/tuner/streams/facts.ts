import { rm, writeFile } from 'node:fs/promises';
import type { ProbedStream } from '#platform/media.ts';
import { ffprobe } from '#workers/probe/ffprobe.ts';
import { fileOf } from '#workers/probe/ffprobe-answer.ts';

interface Probed {
  path: string;
  bytes: Buffer;
  signal: AbortSignal;
  /** Options of ffprobe. */
  limits?: readonly string[];
}

/** The streams of a segment, which ffprobe reads from a file of its own. */
export async function factsOf({ path, bytes, signal, limits = [] }: Probed): Promise<ProbedStream[]> {
  const sniffed = { demuxer: 'mpegts', container: 'mpegts' };
  try {
    await writeFile(path, bytes);
    return fileOf(await ffprobe({ path, sniffed, show: [...limits, '-show_streams', '-show_format'], signal }), sniffed)
      .streams;
  } finally {
    await rm(path, { force: true });
  }
}
