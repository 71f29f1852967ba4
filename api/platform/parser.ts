// The server's own pool of parser pods, which open what others made. The operator gives its address: nobody else can name one.
import { request } from 'node:http';
import { frameReader, toFrame } from './pictures-frames.ts';
import {
  type ChildAnswer,
  MOST_FRAME_BYTES,
  type OpenPicture,
  ParserUnavailable,
  Refused,
} from './pictures-protocol.ts';

/** Where a parser takes pictures. */
export const PICTURES_PATH = '/pictures';
/** For its turn, its process and the picture itself. */
const PATIENCE_MS = 60_000;

/** Opens pictures in the pods behind an address; one that ends meanwhile is asked for again once, of another. */
export function parserAt(url: string): OpenPicture {
  const address = new URL(PICTURES_PATH, url);
  return async (ask, bytes) => {
    const frame = toFrame(ask, bytes);
    const { head, bytes: made } = await answerOf(address, frame).catch(() => answerOf(address, frame));
    const answer = head as ChildAnswer;
    if (!answer.ok) throw new Refused(answer.reason);
    return { facts: answer.facts, bytes: made };
  };
}

interface Said {
  head: unknown;
  bytes: Buffer;
}

/** A connection for each picture: the next one may go to another pod. Throws `ParserUnavailable`. */
function answerOf(address: URL, frame: Buffer): Promise<Said> {
  return new Promise<Said>((resolve, reject) => {
    const away = (why: string): void => reject(new ParserUnavailable(`the parser: ${why}`));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': frame.length };
    const asked = request(address, { method: 'POST', agent: false, headers, signal }, (answer) => {
      if (answer.statusCode !== 200) {
        answer.resume();
        away(`status ${answer.statusCode}`);
        return;
      }
      const read = frameReader(MOST_FRAME_BYTES, resolve);
      answer.on('data', (chunk: Buffer) => {
        try {
          read(chunk);
        } catch (error) {
          asked.destroy(error as Error);
        }
      });
      answer.on('close', () => away('ended in its answer'));
    });
    asked.on('error', (error) => away(error.message));
    asked.end(frame);
  });
}
