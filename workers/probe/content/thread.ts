/** Reads files in a thread, because a hostile one may take long or much memory: the main thread can end this one. */
import { parentPort } from 'node:worker_threads';
import type { ProbeFault } from '#platform/media.ts';
import { UnsafeArchive } from '../archive/limits.ts';
import { readCover } from '../books/cover.ts';
import { readBook, readComicFile } from '../books/read.ts';
import { ProbeError } from '../fault.ts';
import { readMusic } from '../music/read.ts';
import { readTrack } from '../music/track.ts';
import { readPreview } from '../photos/preview.ts';
import { readPhoto } from '../photos/read.ts';

/** What can be read, and how; each takes a path and gives what can be sent to another thread. */
const readers = {
  music: readMusic,
  track: readTrack,
  book: readBook,
  comic: readComicFile,
  photo: readPhoto,
  cover: readCover,
  preview: readPreview,
};

export type ContentKind = keyof typeof readers;
export type Content<K extends ContentKind> = Awaited<ReturnType<(typeof readers)[K]>>;

export interface Request {
  kind: ContentKind;
  paths: readonly string[];
  /** For readers that resolve links: the real paths that a file must be in. */
  within?: readonly string[];
}

/** A message that took so long is answered with the files that were read so far. */
const ENOUGH_MS = 4000;

export type Answer = { content: unknown } | { fault: ProbeFault; failed: string };

parentPort?.on('message', (request: Request) => {
  void answersFor(request).then((answers) => parentPort?.postMessage(answers));
});

async function answersFor({ kind, paths, within = [] }: Request): Promise<Answer[]> {
  const answers: Answer[] = [];
  const end = performance.now() + ENOUGH_MS;
  for (const path of paths) {
    answers.push(await answerFor(kind, path, within));
    if (performance.now() > end) break;
  }
  return answers;
}

async function answerFor(kind: ContentKind, path: string, within: readonly string[]): Promise<Answer> {
  try {
    return { content: await readers[kind](path, within) };
  } catch (error) {
    return { fault: faultOf(error), failed: error instanceof Error ? error.message.slice(0, 200) : 'unknown' };
  }
}

function faultOf(error: unknown): ProbeFault {
  if (error instanceof ProbeError) return error.fault;
  return error instanceof UnsafeArchive ? 'unsafe-archive' : 'corrupt';
}
