import { identifyAgain } from '#identity/credentials.ts';
import { recordLastUse } from '#identity/devices.ts';
import type { Principal } from '#identity/principal.ts';
import { mayWatch } from '#identity/viewing-hours.ts';
import { visibleItemIds } from '#identity/visibility.ts';
import type { Deps } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { listen } from '#platform/listen.ts';
import { asVisibleTo, forClass, forPerson } from './audience.ts';
import { keepAlive, message, reset } from './blocks.ts';
import type { Published } from './feed.ts';
import { EventFeed } from './feed.ts';
import { createPositions, type Positions } from './position.ts';
import { kept, type Reader, readerFor, type VisibilityClass } from './reader.ts';
import type { EventStream } from './stream.ts';

/** Said by triggers of the tables that decide rights. */
const RIGHTS_CHANNEL = 'foyer_rights';
const KEEP_ALIVE_MS = 20_000;
const STUCK_MS = 30_000;
const WITHOUT_DATABASE_MS = 5 * 60_000;
/** For the last bytes to be taken when the process is told to stop. */
const LEAVE_MS = 5000;
const MOST_STREAMS = 10_000;
const MOST_OF_ACCOUNT = 50;
const MOST_OF_SLOT = 4;

/** All streams of this process on one feed. */
export class EventStreams {
  readonly positions: Positions;
  readonly feed: EventFeed;
  readonly #deps: Deps;
  readonly #streams = new Set<EventStream>();
  /** Each class once: thousands of readers share a few. */
  #classes = new Map<string, VisibilityClass>();
  #databaseSeen = Date.now();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.positions = createPositions(deps.keys);
    this.feed = new EventFeed({ ...deps, signal: deps.draining });
  }

  get size(): number {
    return this.#streams.size;
  }

  async start(): Promise<void> {
    const { draining, config } = this.#deps;
    await this.feed.start((events) => this.#send(events));
    const timer = setInterval(() => void this.#keepAlive(), KEEP_ALIVE_MS);
    void listen(config.databaseUrl, {
      channel: RIGHTS_CHANNEL,
      heard: (accountId) => void this.#lookAgain(accountId),
      connected: () => void this.#lookAgain('*'),
      signal: draining,
    });
    const leaveAll = (): void => {
      clearInterval(timer);
      for (const stream of this.#streams) leave(stream);
      setTimeout(() => this.#cutAll(), LEAVE_MS).unref();
    };
    if (draining.aborted) leaveAll();
    else draining.addEventListener('abort', leaveAll, { once: true });
  }

  /** Throws when this process or the account has enough, unless one of its own makes room. */
  admit(accountId: string, slot: string): void {
    if (this.#streams.size >= MOST_STREAMS)
      throw new ApiError('SERVICE_STARTING', 'This replica is full', { waitingFor: 'capacity' });
    const own = [...this.#streams].filter(({ reader }) => reader.who.accountId === accountId);
    const same = own.filter((stream) => stream.slot === slot);
    if (same.length < MOST_OF_SLOT && own.length >= MOST_OF_ACCOUNT)
      throw new ApiError('RATE_LIMITED', 'Too many streams of this account', { retryAfterSec: 60 });
  }

  async readerFor(who: Principal): Promise<Reader> {
    const reader = await readerFor(this.#deps.db, who);
    const known = this.#classes.get(reader.class.key) ?? reader.class;
    this.#classes.set(known.key, known);
    return kept({ ...reader, class: known });
  }

  /** The oldest of a session and device makes room for a fifth; judged here, as many may be opened at once. */
  add(stream: EventStream): void {
    const same = [...this.#streams].filter(({ slot, open }) => open && slot === stream.slot);
    if (same.length >= MOST_OF_SLOT) same[0]?.end(KEEP_ALIVE_MS);
    this.#streams.add(stream);
    stream.socket.on('close', () => this.#streams.delete(stream));
    if (this.#deps.draining.aborted) leave(stream);
  }

  /** Those that do not read do not hold a process up that is told to stop. */
  #cutAll(): void {
    for (const stream of this.#streams) stream.cut();
  }

  /** What was missed, by the rights of now; then live ones go on where it ended. */
  async replay(stream: EventStream, after: number, who: Principal): Promise<void> {
    const missed = this.feed.after(after);
    const gone = await this.#hidden(missed, { who, to: stream.reader.class });
    for (const event of missed) if (!gone.has(event.number)) this.#sendOne(stream, event);
    const last = missed.at(-1)?.number ?? after;
    const held = stream.held ?? [];
    stream.held = undefined;
    for (const event of held) if (event.number > last) this.#sendOne(stream, event);
  }

  /** Events about items that are there and that the reader no longer sees. */
  async #hidden(events: readonly Published[], { who, to }: Seeing): Promise<Set<number>> {
    const names = events.map((event) => ({ ...event, event: asVisibleTo(event, to).event }));
    const about = names.filter(({ event }) => event === 'item.added' || event === 'item.updated');
    if (about.length === 0) return new Set();
    const ids = [...new Set(about.map(({ payload }) => String(payload.itemId)))];
    const visible = new Set(await visibleItemIds(this.#deps.db, who, ids));
    return new Set(about.filter(({ payload }) => !visible.has(String(payload.itemId))).map(({ number }) => number));
  }

  #send(events: readonly Published[]): void {
    for (const event of events) {
      const told = new Map<string, Told>();
      const toldTo = (to: VisibilityClass): Told => {
        const known = told.get(to.key) ?? toldOf(event, to);
        told.set(to.key, known);
        return known;
      };
      for (const stream of this.#streams) {
        if (stream.held) stream.held.push(event);
        else this.#write(stream, toldTo(stream.reader.class));
      }
    }
  }

  #sendOne(stream: EventStream, event: Published): void {
    this.#write(stream, toldOf(event, stream.reader.class));
  }

  #write(stream: EventStream, { event, shared }: Told): void {
    if (!stream.wants(event.event)) return;
    const block = shared ?? line(event, forPerson(event, stream.reader));
    if (block) stream.write(block);
  }

  /** A comment and the newest position for each, and rights read anew. */
  async #keepAlive(): Promise<void> {
    const now = Date.now();
    const block = keepAlive(this.positions.write(this.feed.head));
    for (const stream of this.#streams) {
      if (stream.isStuck(now, STUCK_MS)) stream.cut();
      else if (!stream.held) stream.write(block);
      recordLastUse(this.#deps.db, stream.reader.who, null);
    }
    await this.#lookAgain();
    this.#classes = new Map([...this.#streams].map(({ reader }) => [reader.class.key, reader.class]));
  }

  async #lookAgain(accountId?: string): Promise<void> {
    const all = accountId === undefined || accountId === '*';
    const streams = [...this.#streams].filter(({ reader }) => all || reader.who.accountId === accountId);
    const bySource = Map.groupBy(streams, ({ reader }) => reader.who.sessionId ?? reader.who.keyId ?? '');
    try {
      await Promise.all([...bySource.values()].map((same) => this.#renew(same)));
      this.#databaseSeen = Date.now();
    } catch (error) {
      this.#deps.log.debug({ err: (error as Error).message }, 'rights of event streams not read');
      if (Date.now() - this.#databaseSeen > WITHOUT_DATABASE_MS)
        for (const stream of streams) stream.end(KEEP_ALIVE_MS);
    }
  }

  /** Streams of one session or key: on with their rights of now, or closed. */
  async #renew(streams: readonly EventStream[]): Promise<void> {
    const [first] = streams;
    if (!first) return;
    const found = await identifyAgain(this.#deps.db, first.reader.who);
    const timeZone = found?.timeZone ?? this.#deps.settings.get('server.timeZone');
    if (!found || !mayWatch(found.viewingHours, timeZone, new Date())) {
      for (const stream of streams) stream.end(1000);
      return;
    }
    const reader = await this.readerFor(found.who);
    for (const stream of streams) {
      const changed = stream.reader.class.key !== reader.class.key;
      stream.reader = { ...reader, who: { ...reader.who, ...deviceOf(stream.reader) } };
      if (changed) stream.write(reset(this.positions.write(this.feed.head), { reason: 'access', missed: false }));
    }
  }
}

/** The client goes on elsewhere; not all of them in the same moment. */
function leave(stream: EventStream): void {
  stream.end(500 + Math.floor(Math.random() * 4000));
}

const deviceOf = ({ who: { deviceId } }: Reader) => (deviceId === undefined ? {} : { deviceId });

interface Seeing {
  who: Principal;
  to: VisibilityClass;
}

/** An event as a class sees it, and the block that all of it get. */
interface Told {
  event: Published;
  shared: Buffer | undefined;
}

function toldOf(published: Published, to: VisibilityClass): Told {
  const event = asVisibleTo(published, to);
  return { event, shared: line(event, forClass(event, to)) };
}

const line = (event: Published, payload: Record<string, unknown> | undefined): Buffer | undefined =>
  payload && message(event, payload);

const started = new WeakMap<Deps, Promise<EventStreams>>();

/** Those of this process; the first stream starts them. */
export function eventStreams(deps: Deps): Promise<EventStreams> {
  const running = started.get(deps);
  if (running) return running;
  const streams = new EventStreams(deps);
  const ready = streams.start().then(() => streams);
  started.set(deps, ready);
  ready.catch(() => started.delete(deps));
  return ready;
}
