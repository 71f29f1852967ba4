// Refusals of requests that hls.js sends by itself.
import { failureOf } from '../../../../api/client/failure.ts';
import { type Problem, problemOf } from './errors.ts';

/** The problem in the answer of a request; undefined when it was not refused. */
export async function refusalOf(request: unknown): Promise<Problem | undefined> {
  if (!(request instanceof XMLHttpRequest) || request.status < 400) return undefined;
  const wait = request.getResponseHeader('retry-after');
  const headers = wait === null ? {} : { 'retry-after': wait };
  return problemOf(await failureOf(new Response(request.response, { status: request.status, headers })));
}
