// One refresh for all tabs. A refresh token works once, and its second use ends the sign-in; so a refused request first
// waits for the lock, and does not refresh when another request or tab did so since it was sent.
import type { Credential } from '../../../../api/client/index.ts';
import type { Locks } from './lock.ts';

export interface SessionHome {
  locks: Locks;
  /** Shared by all tabs; who is given the lock reads what its last holder wrote. */
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  now(): number;
  newId(): string;
  /** The sign-in is over: the server refused a refresh. */
  ended(): void;
}

const LOCK = 'foyer-refresh';
/** The time of the last refresh; `ended` after one that was refused. */
const MARK = 'foyer.refreshed';
const ENDED = 'ended';
/** The key of a refresh whose answer is not known: a page that is opened again repeats that refresh. */
const RETRY = 'foyer.refreshing';

type Refresh = (retryKey: string) => Promise<unknown>;

export interface SessionCredential extends Credential {
  /** Refreshes ahead of time, unless a tab did since `olderThanMs`. */
  refreshAhead(refresh: Refresh, olderThanMs: number): Promise<void>;
  /** A new sign-in: its cookies are fresh. */
  began(): void;
}

export function browserSession({ locks, storage, now, newId, ended }: SessionHome): SessionCredential {
  const sentAt = new WeakMap<object, string>();
  const mark = (): string => storage.getItem(MARK) ?? '';
  // Two refreshes in one millisecond still differ.
  const renewed = (): void => storage.setItem(MARK, String(Math.max(now(), Number(mark()) + 1 || 0)));

  async function refreshed(refresh: Refresh): Promise<void> {
    const before = mark();
    const retryKey = storage.getItem(RETRY) ?? newId();
    storage.setItem(RETRY, retryKey);
    try {
      await refresh(retryKey);
    } catch (error) {
      if (isAnswer(error)) storage.removeItem(RETRY);
      if (isRefusal(error)) {
        if (mark() !== before) return; // another sign-in has begun meanwhile
        storage.setItem(MARK, ENDED);
        ended();
      }
      throw error;
    }
    storage.removeItem(RETRY);
    renewed();
  }

  return {
    cookies: true,
    headers() {
      const headers = {};
      sentAt.set(headers, mark());
      return headers;
    },
    renew: (refresh, sent) =>
      locks.hold(LOCK, async () => {
        const current = mark();
        if (current !== sentAt.get(sent)) return current !== ENDED;
        if (current === ENDED) return false;
        await refreshed((retryKey) => refresh(undefined, retryKey));
        return true;
      }),
    refreshAhead: (refresh, olderThanMs) =>
      locks.hold(LOCK, async () => {
        const current = mark();
        if (current === ENDED || now() - Number(current) < olderThanMs) return;
        await refreshed(refresh);
      }),
    began: renewed,
  };
}

/** The server answered; after a lost response or a fault on the way the token may be used up. */
const isAnswer = (error: unknown): boolean => {
  const { status = 500 } = error as { status?: number };
  return status < 500;
};
const isRefusal = (error: unknown): boolean => (error as { status?: number }).status === 401;
