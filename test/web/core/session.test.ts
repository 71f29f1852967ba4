import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Locks, leases } from '../../../web/src/core/api/lock.ts';
import { browserSession, type SessionCredential } from '../../../web/src/core/api/session.ts';

/** Storage that all tabs share. */
function memory(): {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
} {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

const refused = Object.assign(new Error('refused'), { status: 401 });
let ids = 0;

/** The leases of one tab. */
const tab = (storage: ReturnType<typeof memory>): Locks =>
  leases({ storage, now: Date.now, sleep: (ms) => sleep(ms), newId: () => `tab-${ids++}` });

describe('a lease in place of Web Locks', () => {
  it('has one holder among tabs, and each gets its turn', async () => {
    const storage = memory();
    let holders = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      holders += 1;
      most = Math.max(most, holders);
      await sleep(20);
      holders -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => tab(storage).hold('name', work)));
    expect(most).to.equal(1);
  });

  it('has one holder where writes of one moment reach the other tabs later', async () => {
    const shared = memory();
    const late = (): ReturnType<typeof memory> => {
      const own = new Map<string, string>();
      const write = (name: string, value: string): void => {
        own.set(name, value);
        setTimeout(() => {
          shared.setItem(name, value);
          own.delete(name);
        }, 10);
      };
      return { ...shared, getItem: (name) => own.get(name) ?? shared.getItem(name), setItem: write };
    };
    let holders = 0;
    const work = async (): Promise<number> => {
      holders += 1;
      await sleep(30);
      holders -= 1;
      return holders;
    };
    const left = await Promise.all([late(), late()].map((storage) => tab(storage).hold('name', work)));
    expect(left).to.deep.equal([0, 0]);
  });

  it('is given back when the work fails, and ends by itself when its tab does', async () => {
    const storage = memory();
    const failed = await tab(storage)
      .hold('name', () => Promise.reject(refused))
      .catch((error: unknown) => error);
    expect(failed).to.equal(refused);
    storage.setItem('foyer.lock.name', `gone ${Date.now() + 300}`); // a tab that was killed
    const began = Date.now();
    await tab(storage).hold('name', async () => undefined);
    expect(Date.now() - began).to.be.within(250, 2000);
  });

  it('ends the wait of an aborted request', async () => {
    const storage = memory();
    storage.setItem('foyer.lock.name', `other ${Date.now() + 60_000}`);
    const leaving = new AbortController();
    const waiting = tab(storage).hold('name', async () => 'held', leaving.signal);
    leaving.abort();
    expect(await waiting.catch((error: Error) => error.name)).to.equal('AbortError');
  });
});

describe('the session of a browser', () => {
  let endings = 0;
  const sessionOf = (storage: ReturnType<typeof memory>): SessionCredential =>
    browserSession({
      locks: tab(storage),
      storage,
      now: Date.now,
      newId: () => `key-${ids++}`,
      ended: () => (endings += 1),
    });
  beforeEach(() => {
    endings = 0;
  });

  it('refreshes once for all requests of all tabs that met the end of one token', async () => {
    const storage = memory();
    let refreshes = 0;
    const refresh = async (): Promise<never> => {
      refreshes += 1;
      await sleep(10);
      return undefined as never;
    };
    const tabs = [sessionOf(storage), sessionOf(storage)];
    const sent = tabs.flatMap((session) => Array.from({ length: 10 }, () => ({ session, headers: session.headers() })));
    const repeated = await Promise.all(sent.map(async ({ session, headers }) => session.renew?.(refresh, headers)));
    expect(repeated).to.deep.equal(Array.from({ length: 20 }, () => true));
    expect(refreshes).to.equal(1);
    const [later] = tabs;
    await later?.renew?.(refresh, later.headers());
    expect(refreshes, 'a request that was sent after it refreshes again').to.equal(2);
  });

  it('ends once when the server refuses, and is not tried again until the next sign-in', async () => {
    const storage = memory();
    const session = sessionOf(storage);
    let refreshes = 0;
    const refresh = (): Promise<never> => {
      refreshes += 1;
      return Promise.reject(refused);
    };
    const first = session.headers();
    expect(await session.renew?.(refresh, first).catch((error: unknown) => error)).to.equal(refused);
    expect(await session.renew?.(refresh, first)).to.equal(false);
    expect(await session.renew?.(refresh, session.headers())).to.equal(false);
    expect([refreshes, endings]).to.deep.equal([1, 1]);
    session.began();
    expect(await session.renew?.(refresh, session.headers()).catch((error: unknown) => error)).to.equal(refused);
  });

  it('does not end when the server cannot be reached', async () => {
    const session = sessionOf(memory());
    const lost = new TypeError('fetch failed');
    expect(
      await session.renew?.(() => Promise.reject(lost), session.headers()).catch((error: unknown) => error),
    ).to.equal(lost);
    expect(endings).to.equal(0);
  });

  it('repeats a refresh whose response was lost with its key, also from a page that was opened again', async () => {
    const storage = memory();
    const keys: string[] = [];
    const lost = (key: string): Promise<never> => {
      keys.push(key);
      return Promise.reject(new TypeError('fetch failed'));
    };
    const answered = async (key: string): Promise<void> => void keys.push(key);
    await sessionOf(storage)
      .refreshAhead(lost, -1)
      .catch(() => undefined);
    const again = sessionOf(storage);
    const renew = again.renew?.((_token, key = '') => lost(key), again.headers());
    await renew?.catch(() => undefined);
    await again.refreshAhead(answered, -1);
    await again.refreshAhead(answered, -1);
    expect(new Set(keys.slice(0, 3)).size, 'the key of the lost one').to.equal(1);
    expect(keys[3], 'a new one has a key of its own').to.not.equal(keys[0]);
  });

  it('refreshes ahead unless a tab did so lately', async () => {
    const session = sessionOf(memory());
    let refreshes = 0;
    const refresh = async (): Promise<void> => {
      refreshes += 1;
    };
    session.began();
    await session.refreshAhead(refresh, 60_000);
    expect(refreshes).to.equal(0);
    await session.refreshAhead(refresh, -1);
    expect(refreshes).to.equal(1);
  });

  it('is not ended by a late refusal after another sign-in', async () => {
    const storage = memory();
    const session = sessionOf(storage);
    session.began();
    const sent = session.headers();
    const kept = await session.renew?.(
      async () => {
        session.began(); // the answer of the new sign-in arrives first
        throw refused;
      },
      sent as Record<string, string>,
    );
    expect([kept, endings]).to.deep.equal([true, 0]);
  });
});
