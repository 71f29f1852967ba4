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

/** Channel that triggers notify when rights change. */
const RIGHTS_CHANNEL = 'foyer_rights';
const KEEP_ALIVE_MS = 20_000;
const STUCK_MS = 30_000;
const WITHOUT_DATABASE_MS = 5 * 60_000;
/** Time for the last bytes to be sent when the process stops. */
const LEAVE_MS = 5000;
const MOST_STREAMS = 10_000;
const MOST_OF_ACCOUNT = 50;
const MOST_OF_SLOT = 4;

/** All streams of this process, on one feed. */
export class EventStreams {
  readonly positions: Positions;
  readonly feed: EventFeed;
  readonly #deps: Deps;
  readonly #streams = new Set<EventStream>();
  /** Visibility classes by key; many readers share a few. */
  #classes = new Map<string, VisibilityClass>();
  #lastRead = Date.now();

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

  /** Throws when this process or the account has too many streams, unless one of the same slot makes room. */
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

  /** Adds a stream; beyond four of a slot the oldest ends. Checked here again because streams open concurrently. */
  add(stream: EventStream): void {
    const same = [...this.#streams].filter(({ slot, open }) => open && slot === stream.slot);
    if (same.length >= MOST_OF_SLOT) same[0]?.end(KEEP_ALIVE_MS);
    this.#streams.add(stream);
    stream.socket.on('close', () => this.#streams.delete(stream));
    if (this.#deps.draining.aborted) leave(stream);
  }

  /** Disconnects clients that do not read, so that the process can stop. */
  #cutAll(): void {
    for (const stream of this.#streams) stream.cut();
  }

  /** Sends the missed events by the present rights, then the events held since. */
  async replay(stream: EventStream, after: number, who: Principal): Promise<void> {
    const missed = this.feed.after(after);
    const gone = await this.#hidden(missed, { who, to: stream.reader.class });
    for (const event of missed) if (!gone.has(event.number)) this.#sendOne(stream, event);
    const last = missed.at(-1)?.number ?? after;
    const held = stream.held ?? [];
    stream.held = undefined;
    for (const event of held) if (event.number > last) this.#sendOne(stream, event);
  }

  /** Numbers of events about items that the reader no longer sees. */
  async #hidden(events: readonly Published[], { who, to }: Visibility): Promise<Set<number>> {
    const names = events.map((event) => ({ ...event, event: asVisibleTo(event, to).event }));
    const about = names.filter(({ event }) => event === 'item.added' || event === 'item.updated');
    if (about.length === 0) return new Set();
    const ids = [...new Set(about.map(({ payload }) => String(payload.itemId)))];
    const visible = new Set(await visibleItemIds(this.#deps.db, who, ids));
    return new Set(about.filter(({ payload }) => !visible.has(String(payload.itemId))).map(({ number }) => number));
  }

  #send(events: readonly Published[]): void {
    for (const event of events) {
      const byClass = new Map<string, ClassEvent>();
      const eventFor = (to: VisibilityClass): ClassEvent => {
        const known = byClass.get(to.key) ?? classEventOf(event, to);
        byClass.set(to.key, known);
        return known;
      };
      for (const stream of this.#streams) {
        if (stream.held) stream.held.push(event);
        else this.#write(stream, eventFor(stream.reader.class));
      }
    }
  }

  #sendOne(stream: EventStream, event: Published): void {
    this.#write(stream, classEventOf(event, stream.reader.class));
  }

  #write(stream: EventStream, { event, shared }: ClassEvent): void {
    if (!stream.wants(event.event)) return;
    const block = shared ?? line(event, forPerson(event, stream.reader));
    if (block) stream.write(block);
  }

  /** Sends each stream a comment and the newest position, and reads rights again. */
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
      this.#lastRead = Date.now();
    } catch (error) {
      this.#deps.log.debug({ err: (error as Error).message }, 'rights of event streams not read');
      if (Date.now() - this.#lastRead > WITHOUT_DATABASE_MS) for (const stream of streams) stream.end(KEEP_ALIVE_MS);
    }
  }

  /** Updates the rights of the streams of one session or key, or closes them. */
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

/** Ends a stream with a random delay, so that clients do not reconnect all at once. */
function leave(stream: EventStream): void {
  stream.end(500 + Math.floor(Math.random() * 4000));
}

const deviceOf = ({ who: { deviceId } }: Reader) => (deviceId === undefined ? {} : { deviceId });

interface Visibility {
  who: Principal;
  to: VisibilityClass;
}

/** An event as a class sees it, and the block for all its readers. */
interface ClassEvent {
  event: Published;
  shared: Buffer | undefined;
}

function classEventOf(published: Published, to: VisibilityClass): ClassEvent {
  const event = asVisibleTo(published, to);
  return { event, shared: line(event, forClass(event, to)) };
}

const line = (event: Published, payload: Record<string, unknown> | undefined): Buffer | undefined =>
  payload && message(event, payload);

const started = new WeakMap<Deps, Promise<EventStreams>>();

/** The streams of this process, started with the first one. */
export function eventStreams(deps: Deps): Promise<EventStreams> {
  const running = started.get(deps);
  if (running) return running;
  const streams = new EventStreams(deps);
  const ready = streams.start().then(() => streams);
  started.set(deps, ready);
  ready.catch(() => started.delete(deps));
  return ready;
}
