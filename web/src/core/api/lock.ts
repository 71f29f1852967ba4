// One holder of a name among all tabs of a browser. Web Locks exist on secure pages alone; elsewhere the lock is a lease
// in localStorage that its holder renews each second and that ends by itself when the tab does.

export interface Locks {
  /** Runs `work` while no other tab holds the name; waits for it. `signal` ends the wait, `lost` says that another tab holds it now. */
  hold<T>(name: string, work: (lost: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** What a lease needs of the browser. */
export interface LeaseHome {
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  now(): number;
  sleep(ms: number): Promise<void>;
  newId(): string;
}

const LEASE_MS = 4000;
const RENEW_MS = 1000;
const POLL_MS = 40;
/** Longer than another tab takes from reading a free lease to writing its own. */
const SETTLE_MS = 60;

/** The part of LockManager that is used. */
interface WebLocks {
  request(name: string, options: { signal?: AbortSignal }, work: () => Promise<unknown>): Promise<unknown>;
}

export function webLocks(manager: WebLocks): Locks {
  const kept = new AbortController().signal; // the browser takes no lock back
  return {
    hold: <T>(name: string, work: (lost: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> =>
      manager.request(name, signal ? { signal } : {}, () => work(kept)) as Promise<T>,
  };
}

export function leases(home: LeaseHome): Locks {
  const waiting = new Map<string, Promise<unknown>>(); // within a tab they are in line, without polling
  return {
    async hold(name, work, signal) {
      const before = waiting.get(name) ?? Promise.resolve();
      const run = before.then(
        () => held(home, name, { work, signal }),
        () => held(home, name, { work, signal }),
      );
      waiting.set(name, run);
      return run;
    },
  };
}

interface Held<T> {
  work: (lost: AbortSignal) => Promise<T>;
  signal: AbortSignal | undefined;
}

async function held<T>(home: LeaseHome, name: string, { work, signal }: Held<T>): Promise<T> {
  const [key, id] = [`foyer.lock.${name}`, home.newId()];
  while (!(await taken(home, key, id))) {
    signal?.throwIfAborted();
    await home.sleep(POLL_MS);
  }
  const lost = new AbortController();
  // A tab in the background runs seldom, so its lease may have passed to another.
  const renewal = setInterval(() => {
    if (read(home, key)?.id === id) write(home, key, id);
    else lost.abort();
  }, RENEW_MS);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(renewal);
    if (read(home, key)?.id === id) home.storage.removeItem(key);
  }
}

interface Lease {
  id: string;
  until: number;
}

function read(home: LeaseHome, key: string): Lease | undefined {
  const [id, until] = (home.storage.getItem(key) ?? '').split(' ');
  return id && until ? { id, until: Number(until) } : undefined;
}

const write = (home: LeaseHome, key: string, id: string): void =>
  home.storage.setItem(key, `${id} ${home.now() + LEASE_MS}`);

async function taken(home: LeaseHome, key: string, id: string): Promise<boolean> {
  const lease = read(home, key);
  if (lease && lease.until > home.now()) return false;
  write(home, key, id);
  await home.sleep(SETTLE_MS);
  if (read(home, key)?.id !== id) return false;
  write(home, key, id);
  return true;
}
