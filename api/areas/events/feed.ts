import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '#platform/db.ts';
import { type EventFacts, type EventName, volatileEvents } from '#platform/events.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis.ts';
import { EVENT_STREAM } from '#platform/relay.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Position } from './position.ts';

/** An event with its number in the order of all events. */
export interface Published {
  number: number;
  id: string;
  event: EventName;
  at: string;
  payload: Record<string, unknown>;
  facts: EventFacts;
}

export const REPLAYED = 1000;
/** Superseded progress events whose ids stay known, so that a client with such a last id can resume. */
export const SUPERSEDED = 10_000;
const BATCH = 500;
const LOOK_MS = 1000;
const MOST_LOADED = 50_000; // more exist only when no worker has trimmed the table for long

interface Setting {
  db: Db;
  redis: Redis;
  log: Log;
  signal: AbortSignal;
}

/**
 * The published events: from the Redis stream, and from the table for those that Redis lost. Keeps the last
 * 1,000 in memory, and in addition only the newest progress of each scan and session.
 */
export class EventFeed {
  readonly #setting: Setting;
  readonly #kept = new Map<number, Published>();
  readonly #newest = new Map<string, number>();
  readonly #superseded = new Map<string, number>();
  readonly #reader: Redis;
  #lasting = 0;
  #head = 0;
  #listener: (events: readonly Published[]) => void = () => undefined;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#reader = setting.redis.duplicate({ commandTimeout: 5000, enableOfflineQueue: true });
    this.#reader.on('error', () => undefined); // the first connection reports errors
    setting.signal.addEventListener('abort', () => this.#reader.disconnect(), { once: true });
  }

  /** Number of the newest event that was read. */
  get head(): number {
    return this.#head;
  }

  /** Number of the oldest event that can be replayed; 0 while none was dropped. */
  get tail(): number {
    if (this.#lasting < REPLAYED) return 0;
    return this.#kept.keys().next().value ?? this.#head + 1;
  }

  /** Loads the kept events, then follows in the background until aborted. */
  async start(listener: (events: readonly Published[]) => void): Promise<void> {
    const { db } = this.#setting;
    const first = db('events')
      .whereNotIn('event', volatileEvents)
      .orderBy('number', 'desc')
      .offset(REPLAYED - 1)
      .limit(1)
      .select('number');
    const rows = await db('events')
      .whereRaw('number >= coalesce(?, 0)', [first])
      .orderBy('number', 'desc')
      .limit(MOST_LOADED)
      .select('*');
    for (const row of rows.reverse()) this.#keep(fromRow(row));
    this.#listener = listener;
    void this.#follow();
  }

  after(number: number): Published[] {
    return [...this.#kept.values()].filter((event) => event.number > number);
  }

  /** Position of an event id; its time comes from the id, which is created with the change. */
  find(id: string): Position | undefined {
    const place = this.#superseded.get(id) ?? this.#kept.values().find((event) => event.id === id)?.number;
    return place === undefined ? undefined : { place, atMs: Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) };
  }

  async #follow(): Promise<void> {
    const { signal, log } = this.#setting;
    while (!signal.aborted) {
      const began = Date.now();
      try {
        const woken = await this.#wait();
        if (!signal.aborted) await this.#take(woken);
      } catch (error) {
        log.debug({ err: (error as Error).message }, 'events not read');
      }
      if (Date.now() - began < 5) await sleep(LOOK_MS / 4, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The next events of the stream; undefined after a second without any, or while Redis is unavailable. */
  async #wait(): Promise<Published[] | undefined> {
    try {
      const answer = await this.#reader.xread(
        'COUNT',
        BATCH,
        'BLOCK',
        LOOK_MS,
        'STREAMS',
        EVENT_STREAM,
        `${this.#head}-0`,
      );
      return answer?.[0]?.[1].map(([id, fields]) => fromStream(id, fields));
    } catch {
      await sleep(LOOK_MS, undefined, { signal: this.#setting.signal }).catch(() => undefined);
      return undefined;
    }
  }

  /** Reads events from the table that the stream skipped, and once a second those that it never carried. */
  async #take(streamed: Published[] | undefined): Promise<void> {
    const whole = streamed?.[0]?.number === this.#head + 1;
    const found = whole ? streamed : await this.#fromTable();
    const fresh = found.filter(({ number }) => number > this.#head);
    for (const event of fresh) this.#keep(event);
    if (fresh.length > 0) this.#listener(fresh);
  }

  async #fromTable(): Promise<Published[]> {
    const { db } = this.#setting;
    const rows = await db('events').where('number', '>', this.#head).orderBy('number').limit(BATCH).select('*');
    return rows.map(fromRow);
  }

  #keep(event: Published): void {
    this.#head = Math.max(this.#head, event.number);
    this.#kept.set(event.number, event);
    const thing = progressOf(event);
    if (thing) {
      const before = this.#kept.get(this.#newest.get(thing) ?? 0);
      if (before) this.#supersede(before);
      if (isVolatile(event)) this.#newest.set(thing, event.number);
      else this.#newest.delete(thing);
    }
    if (!isVolatile(event)) this.#lasting += 1;
    while (this.#lasting > REPLAYED) this.#dropOldest();
  }

  #supersede({ number, id }: Published): void {
    this.#kept.delete(number);
    this.#superseded.set(id, number);
    const [oldest] = this.#superseded.keys();
    if (this.#superseded.size > SUPERSEDED && oldest !== undefined) this.#superseded.delete(oldest);
  }

  #dropOldest(): void {
    const oldest = this.#kept.values().next().value;
    if (!oldest) return;
    this.#kept.delete(oldest.number);
    if (!isVolatile(oldest)) this.#lasting -= 1;
  }
}

const isVolatile = ({ event }: Published): boolean => volatileEvents.includes(event);

/** The scan or session whose progress the event reports. */
function progressOf({ event, payload }: Published): string | undefined {
  if (event.startsWith('library.scan.')) return String(payload.scanId);
  if (event.startsWith('playback.')) return String(payload.sessionId);
  return undefined;
}

const fromRow = (row: Row<'events'>): Published => ({ ...row, at: row.at.toISOString() });

function fromStream(id: string, fields: string[]): Published {
  const [, line = '{}', , facts = '{}'] = fields;
  const envelope = JSON.parse(line) as Omit<Published, 'number' | 'facts'>;
  return { ...envelope, number: Number(id.split('-')[0]), facts: JSON.parse(facts) as EventFacts };
}
