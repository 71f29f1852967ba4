import { createHash } from 'node:crypto';
import type { Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';

/** The type with its ETag, of revision and content; 304 if the client has it already. */
export function answerType<T extends { revision: number }>(call: Call, type: T): T {
  const digest = createHash('sha256').update(JSON.stringify(type)).digest('base64url').slice(0, 16);
  const etag = `"${type.revision}-${digest}"`;
  call.reply.header('ETag', etag);
  call.reply.header('Cache-Control', 'private, no-cache');
  if (call.method === 'GET' && knowsEtag(call.headers['if-none-match'], etag)) call.reply.status(304);
  return type;
}
