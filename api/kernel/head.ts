// What every answer carries and how it is counted, whether it passes the envelope or is written at once.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { countRequest, timeRequest } from '#platform/metrics.ts';
import type { Deps } from './endpoint.ts';
import { isSecure, requestIdOf } from './request.ts';

const SECURITY_HEADERS = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
];
/** RFC 6797, in seconds; without subdomains, which may have no TLS. */
const HALF_A_YEAR = 'max-age=15552000';

export interface Head {
  requestId: string;
  /** Names and values in turn, as `writeHead` takes them. */
  headers: string[];
}

/** The headers of every answer to this request. */
export function headOf(request: IncomingMessage, deps: Deps): Head {
  const requestId = requestIdOf(request) ?? randomUUID();
  const headers = ['X-Request-Id', requestId, ...SECURITY_HEADERS];
  if (isSecure(request, { trustedProxies: deps.settings.get('network.trustedProxies') }))
    headers.push('Strict-Transport-Security', HALF_A_YEAR);
  if (deps.draining.aborted) headers.push('Connection', 'close');
  return { requestId, headers };
}

/** Whether there are two Host headers, of which proxies could use different ones (RFC 9112, 3.2). */
export function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

export interface Answered {
  requestId: string;
  method: string;
  status: number;
  /** When the request arrived, by performance.now(). */
  began: number;
  operation?: string;
  area?: string;
}

/** Counts and times an answer, and logs it at the level `debug`. */
export function noteAnswer(
  { log }: Deps,
  { requestId, method, status, began, operation = 'none', area = 'none' }: Answered,
): void {
  countRequest(operation, status);
  timeRequest(area, (performance.now() - began) / 1000);
  if (log.isLevelEnabled('debug')) log.debug({ requestId, operation, method, status }, 'request');
}
