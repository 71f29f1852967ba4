// The client of this page. It signs in by cookies, so no token is ever in script.
import { type ClientOptions, createClient, type FoyerClient } from '../../../../api/client/index.ts';
import { sharedStorage } from '../browser/shared.ts';
import { earlyFetch } from './early.ts';
import { newId } from './ids.ts';
import { type Locks, leases, webLocks } from './lock.ts';
import { browserSession } from './session.ts';

const CLIENT_ID = 'foyer.client';

/** The same for the life of this browser's data. */
function clientId(): string {
  const known = localStorage.getItem(CLIENT_ID);
  if (known) return known;
  const made = newId();
  localStorage.setItem(CLIENT_ID, made);
  return made;
}

/** As people see it among their devices, such as `Firefox on Android`. */
function clientName(agent: string): string {
  const first = (pairs: readonly [RegExp, string][], other: string): string =>
    pairs.find(([pattern]) => pattern.test(agent))?.[1] ?? other;
  return `${first(BROWSERS, 'Browser')} on ${first(SYSTEMS, 'a computer')}`;
}

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
];

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** One holder of a name among all tabs of this browser. */
export const locks: Locks = navigator.locks
  ? webLocks(navigator.locks)
  : leases({ storage: localStorage, now: Date.now, sleep, newId });

const endings = new Set<() => void>();
/** Calls `handle` when the server has ended the sign-in of this browser. */
export function whenEnded(handle: () => void): () => void {
  endings.add(handle);
  return () => endings.delete(handle);
}

export const session = browserSession({
  locks,
  storage: sharedStorage,
  now: Date.now,
  newId,
  ended: () => {
    for (const handle of endings) handle();
  },
});

const options: ClientOptions = {
  server: location.origin,
  credential: session,
  clientId: clientId(),
  clientName: clientName(navigator.userAgent),
};

export const api: FoyerClient = createClient({ ...options, fetch: earlyFetch });

/** For the last requests of a page: they go on after it has gone. */
export const parting: FoyerClient = createClient({
  ...options,
  fetch: (address, init) => fetch(address, { ...init, keepalive: true }),
});
