import { createHash } from 'node:crypto';
import type { Call } from './endpoint.ts';

/** Whether `If-None-Match` names this ETag, weak or strong (RFC 9110, 13.1.2). */
export function knowsEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((given) => ['*', etag, `W/${etag}`].includes(given.trim()));
}

/** Sets the ETag of the answer, and 304 for a client that has it already. */
export function answerUnlessSame<T>(call: Call, answer: T, cache = 'private, no-cache'): T {
  const etag = `"${createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 22)}"`;
  call.reply.header('ETag', etag);
  call.reply.header('Cache-Control', cache);
  if (knowsEtag(call.headers['if-none-match'], etag)) call.reply.status(304);
  return answer;
}
