// The server's own pool of parser pods, which open foreign files. Only the operator configures its address.
import { request } from 'node:http';
import { frameReader, toFrame } from './pictures-frames.ts';
import {
  type ChildAnswer,
  MOST_FRAME_BYTES,
  type OpenPicture,
  ParserUnavailable,
  Refused,
} from './pictures-protocol.ts';

/** Path for pictures on a parser pod. */
export const PICTURES_PATH = '/pictures';
/** For waiting in the queue, starting a process and processing the picture. */
const PATIENCE_MS = 60_000;

/** Opens pictures in the pods at an address; a failed attempt is repeated once on another pod. */
export function parserAt(url: string): OpenPicture {
  const address = new URL(PICTURES_PATH, url);
  return async (task, bytes) => {
    const frame = toFrame(task, bytes);
    const { head, bytes: made } = await answerOf(address, frame).catch(() => answerOf(address, frame));
    const answer = head as ChildAnswer;
    if (!answer.ok) throw new Refused(answer.reason);
    return { facts: answer.facts, bytes: made, ...(answer.icon && { icon: answer.icon }) };
  };
}

interface Response {
  head: unknown;
  bytes: Buffer;
}

/** One connection for each picture, so that the next may go to another pod. Throws `ParserUnavailable`. */
function answerOf(address: URL, frame: Buffer): Promise<Response> {
  return new Promise<Response>((resolve, reject) => {
    const fail = (why: string): void => reject(new ParserUnavailable(`the parser: ${why}`));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': frame.length };
    const outgoing = request(address, { method: 'POST', agent: false, headers, signal }, (answer) => {
      if (answer.statusCode !== 200) {
        answer.resume();
        fail(`status ${answer.statusCode}`);
        return;
      }
      const read = frameReader(MOST_FRAME_BYTES, resolve);
      answer.on('data', (chunk: Buffer) => {
        try {
          read(chunk);
        } catch (error) {
          outgoing.destroy(error as Error);
        }
      });
      answer.on('close', () => fail('closed the connection early'));
    });
    outgoing.on('error', (error) => fail(error.message));
    outgoing.end(frame);
  });
}
