/** Reads files in a thread, because a hostile one may take long or much memory: the main thread can end this one. */
import { parentPort } from 'node:worker_threads';
import { readMusic } from '../music/read.ts';

/** What can be read, and how; each takes a path and gives what can be sent to another thread. */
const readers = { music: readMusic };

export type ContentKind = keyof typeof readers;
export type Content<K extends ContentKind> = Awaited<ReturnType<(typeof readers)[K]>>;

export interface Request {
  kind: ContentKind;
  path: string;
}

export type Answer = { content: unknown } | { failed: string };

parentPort?.on('message', (request: Request) => {
  void answerFor(request).then((answer) => parentPort?.postMessage(answer));
});

async function answerFor({ kind, path }: Request): Promise<Answer> {
  try {
    return { content: await readers[kind](path) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message.slice(0, 200) : 'unknown' };
  }
}
