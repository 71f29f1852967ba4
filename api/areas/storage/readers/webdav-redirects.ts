// Redirects of WebDAV servers. The package leaves them to node-fetch, which ends the process at an address with a password in it.
import fetch, { type RequestInit, type Response } from 'node-fetch';
import { StorageFault } from './reader.ts';

const MOST_REDIRECTS = 5;
const FOLLOWED = new Set([301, 302, 307, 308]);

/** Sends a request and follows redirects with its method and content; every connection is judged by the agent of the request. */
export async function fetchFollowing(address: string, init: RequestInit): Promise<Response> {
  let at = address;
  let headers = init.headers;
  for (let followed = 0; ; followed += 1) {
    const response = await fetch(at, { ...init, ...(headers && { headers }), redirect: 'manual' });
    const location = response.headers.get('location');
    if (!FOLLOWED.has(response.status) || location === null) return response;
    response.body?.resume();
    if (followed === MOST_REDIRECTS || isSentOnce(init.body)) throw refused();
    const next = nextOf(location, at);
    if (next.origin !== new URL(at).origin) headers = withoutCredentials(headers);
    at = next.href;
  }
}

function nextOf(location: string, from: string): URL {
  const next = URL.parse(location, from);
  if (!next || !isFollowed(next)) throw refused();
  return next;
}

const isFollowed = ({ protocol, username, password }: URL): boolean =>
  /^https?:$/.test(protocol) && username === '' && password === '';

/** A stream is read once. */
const isSentOnce = (body: RequestInit['body']): boolean => typeof body === 'object' && body !== null && 'pipe' in body;

const refused = (): StorageFault =>
  new StorageFault('host-unreachable', 'the server redirects to an address that is not followed', { stage: 'resolve' });

const withoutCredentials = (headers: RequestInit['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries((headers ?? {}) as Record<string, string>).filter(
      ([name]) => !/^(authorization|cookie)$/i.test(name),
    ),
  );
