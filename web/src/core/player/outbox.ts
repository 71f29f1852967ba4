// Positions that the server has not confirmed. They are written while playing and survive a killed tab; the next page
// sends them with their time, and the server keeps the newest of its own and these.
import type { SyncPlaybackBody } from '../../../../api/client/index.ts';

export interface Position {
  profileId: string;
  itemId: string;
  fileId: string;
  positionMs: number;
  /** Milliseconds since 1970. */
  at: number;
}

interface Entry extends Position {
  clientEventId: string;
}

type Home = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
type Send = (body: SyncPlaybackBody) => Promise<unknown>;

const KEY = 'foyer.positions';
const MOST = 50;
/** A position under it is never sent unless the person went there. */
export const LEAST_MS = 1000;

export class Outbox {
  readonly #home: Home;
  readonly #newId: () => string;

  constructor(home: Home, newId: () => string) {
    this.#home = home;
    this.#newId = newId;
  }

  /** Keeps the position of an item, in place of an older one of the same profile. */
  keep(position: Position): void {
    const rest = this.#read().filter((entry) => !isSame(entry, position));
    this.#write([...rest, { ...position, clientEventId: uuid(this.#newId()) }].slice(-MOST));
  }

  /** The server confirmed a position of this time: older ones need no sending. */
  confirm(position: Pick<Position, 'profileId' | 'itemId' | 'at'>): void {
    const entries = this.#read();
    const rest = entries.filter((entry) => !isSame(entry, position) || entry.at > position.at);
    if (rest.length < entries.length) this.#write(rest);
  }

  /** Sends what this profile has waiting up to a time. Positions stay here when the server is not reached. */
  async flush(profileId: string, send: Send, until = Number.POSITIVE_INFINITY): Promise<void> {
    const waiting = this.#read().filter((entry) => entry.profileId === profileId && entry.at <= until);
    if (waiting.length === 0) return;
    const reports = waiting.map(({ profileId: _of, at, ...report }) => ({ ...report, at: new Date(at).toISOString() }));
    await send({ reports });
    const sent = new Set(waiting.map(({ clientEventId }) => clientEventId));
    this.#write(this.#read().filter(({ clientEventId }) => !sent.has(clientEventId)));
  }

  /** Of any profile. */
  get isEmpty(): boolean {
    return this.#read().length === 0;
  }

  clear(): void {
    this.#home.removeItem(KEY);
  }

  #read(): Entry[] {
    try {
      const entries: unknown = JSON.parse(this.#home.getItem(KEY) ?? '[]');
      return Array.isArray(entries) ? entries.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  #write(entries: readonly Entry[]): void {
    if (entries.length === 0) this.#home.removeItem(KEY);
    else this.#home.setItem(KEY, JSON.stringify(entries));
  }
}

const isSame = (a: Pick<Position, 'profileId' | 'itemId'>, b: Pick<Position, 'profileId' | 'itemId'>): boolean =>
  a.profileId === b.profileId && a.itemId === b.itemId;

function isEntry(value: unknown): value is Entry {
  const { itemId, profileId, positionMs, at, clientEventId } = (value ?? {}) as Partial<Entry>;
  return [itemId, profileId, clientEventId].every((one) => typeof one === 'string') && isTime(positionMs) && isTime(at);
}

const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** 128 random bits in hex as a version 4 UUID. */
function uuid(hex: string): string {
  const digits = [...hex];
  digits[12] = '4';
  digits[16] = '8';
  const text = digits.join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20, 32)].join('-');
}
