// Keeps the cache of one kind (and namespace) in sync with the API server while the process runs: after each watch follows
// another one, with a pause that grows with consecutive faults.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cache } from './cache.ts';
import { hasStatus, Refusal, Unreached } from './faults.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Rest } from './rest.ts';
import { type Followed, listAll, type WatchEvent, watch } from './watch-stream.ts';

const FIRST_PAUSE_MS = 200;
/** With jitter and a list it stays below 30 s, the time within which a change after a fault must be handled. */
const PAUSE_MAX_MS = 15_000;
const IDLE_MS = 90_000;
const QUIET_SHARE = 0.9;
/** First and longest interval between checks whether a kind is served; it doubles each time. */
const ABSENT_MS = 30_000;
const ABSENT_MAX_MS = 600_000;

export interface InformerDeps {
  rest: Rest;
  metrics: Metrics;
  log: Log;
  /** Default: 90 s. */
  idleMs?: number;
  /** Default: 200 ms; the first pause after a fault. */
  pauseMs?: number;
  /** Default: 30 s; the first pause of a kind that is not served. */
  absentMs?: number;
}

export interface InformerPlan {
  namespace: string;
  cache: Cache;
  /** Finds the REST path; undefined while the kind is not served. */
  find(): Promise<Followed | undefined>;
  /** Called after a 404: the path must be found again. */
  lost(): void;
  kind: string;
}

export class Informer {
  readonly #deps: InformerDeps;
  readonly #plan: InformerPlan;
  readonly #stopping = new AbortController();
  readonly #pauseMs: number;
  #version = '';
  #faults = 0;
  /** Consecutive checks at which the kind was not served. */
  #absences = 0;
  #isSought = false;
  /**
   * The API server sends bookmarks for this kind. It sends none for kinds without a watch cache, such as Event: their watches
   * are silent while nothing changes, so an accepted watch counts as contact.
   */
  #hasBookmarks = false;
  /** Time at which the current watch was opened or last received data; undefined without a watch. */
  #byteAt: number | undefined;
  #heardAt = performance.now();
  #triedAt = performance.now();
  #running: Promise<void> | undefined;
  #filled = Promise.withResolvers<void>();
  /** The cache is filled. */
  synced = false;
  /** Whether the API server serves the kind; undefined before the first check. */
  served: boolean | undefined;

  constructor(deps: InformerDeps, plan: InformerPlan) {
    this.#deps = deps;
    this.#plan = plan;
    this.#pauseMs = deps.pauseMs ?? FIRST_PAUSE_MS;
    this.#gauge('synced').set(0);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the cache is filled, or the kind is not served. */
  ready(): Promise<void> {
    return this.#filled.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** A resource needs this kind: while it is not served, check every half minute. */
  seek(): void {
    this.#isSought = true;
  }

  /**
   * Time since the last contact: an object, a bookmark, or an accepted watch of a kind without bookmarks. Zero for a kind
   * that is not served.
   */
  stalenessMs(): number {
    return this.served === false ? 0 : performance.now() - this.#heardAt;
  }

  /** Time for which the loop itself has made no progress, except for intended pauses. */
  stuckMs(): number {
    return Math.max(0, performance.now() - Math.max(this.#heardAt, this.#triedAt));
  }

  measure(): void {
    this.#gauge('staleness').set(this.stalenessMs() / 1000);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const reason = await this.#turn().catch((error: unknown) => this.#fault(error));
      if (signal.aborted) return;
      this.#deps.metrics.restarts.inc({ kind: this.#plan.kind, reason });
    }
  }

  /** Lists if there is no version to continue from, then watches until the watch ends. */
  async #turn(): Promise<string> {
    const followed = await this.#found();
    if (!followed) return 'absent';
    if (!this.#version) await this.#list(followed);
    const { signal } = this.#stopping;
    const from = { version: this.#version, idleMs: this.#idleMs, signal, opened: () => this.#opened() };
    this.#triedAt = performance.now();
    for await (const event of watch(this.#deps.rest, followed, from)) this.#take(event);
    this.#byteAt = undefined;
    await this.#pause(); // short after a watch that delivered events; it prevents a tight loop if the API server only closes connections
    return 'ended';
  }

  async #found(): Promise<Followed | undefined> {
    this.#triedAt = performance.now();
    const followed = await this.#plan.find();
    this.served = followed !== undefined;
    if (followed) {
      this.#absences = 0;
      return followed;
    }
    this.#heard();
    this.#version = '';
    this.#plan.cache.clear(this.#plan.namespace);
    this.#filled.resolve();
    await this.#absence();
    return undefined;
  }

  async #absence(): Promise<void> {
    const least = this.#deps.absentMs ?? ABSENT_MS;
    const turns = Math.min(2 ** this.#absences, Math.ceil(ABSENT_MAX_MS / least));
    this.#absences += 1;
    this.#isSought = false;
    const { signal } = this.#stopping;
    for (let turn = 0; turn < turns && !this.#isSought && !signal.aborted; turn++)
      await this.#rest(least * (0.75 + Math.random() / 2));
  }

  async #list(followed: Followed): Promise<void> {
    const { objects, version } = await listAll(this.#deps.rest, followed, this.#stopping.signal);
    this.#plan.cache.replace(this.#plan.namespace, objects, version);
    this.#version = version;
    this.#heard();
    this.synced = true;
    this.#gauge('synced').set(1);
    this.#filled.resolve();
  }

  #opened(): void {
    this.#byteAt = performance.now();
    if (!this.#hasBookmarks) this.#heard();
  }

  #take({ type, object }: WatchEvent): void {
    this.#heard();
    this.#byteAt = performance.now();
    this.#faults = 0;
    if (type === 'BOOKMARK') this.#hasBookmarks = true;
    if (type === 'DELETED') this.#plan.cache.drop(object);
    else if (type !== 'BOOKMARK') this.#plan.cache.put(object);
    this.#version = object.metadata.resourceVersion ?? this.#version;
  }

  /** Returns the reason for the metric, after the pause. */
  async #fault(error: unknown): Promise<string> {
    if (this.#stopping.signal.aborted) return 'stopped';
    if (this.#wasQuiet(error)) return 'quiet';
    const { log } = this.#deps;
    const { kind, namespace } = this.#plan;
    const reason = reasonOf(error);
    // After a lost connection or a 429 it continues from the same version.
    if (reason !== 'connection' && reason !== 'throttled') this.#version = '';
    if (hasStatus(error, 404)) this.#plan.lost();
    if (reason === 'expired' && this.#faults === 0) {
      this.#faults = 1;
      return reason; // an ordinary expiry: list at once
    }
    log.warn({ kind, namespace, reason, message: (error as Error).message }, 'a watch failed');
    await this.#pause(error instanceof Refusal ? error.retryAfterMs : undefined);
    return reason;
  }

  /**
   * True for a silent watch of a kind without bookmarks, which is no fault. It is reopened, to check that the API server is
   * reachable. The timer of the socket starts with the headers, a moment before the watch counts as open.
   */
  #wasQuiet(error: unknown): boolean {
    const silentMs = this.#byteAt === undefined ? 0 : performance.now() - this.#byteAt;
    this.#byteAt = undefined;
    return error instanceof Unreached && !this.#hasBookmarks && silentMs >= this.#idleMs * QUIET_SHARE;
  }

  async #pause(atLeastMs = 0): Promise<void> {
    const growing = Math.min(this.#pauseMs * 2 ** this.#faults, PAUSE_MAX_MS);
    this.#faults += 1;
    await this.#rest(Math.max(atLeastMs, growing) * (0.75 + Math.random() / 2) + (atLeastMs ? atLeastMs / 4 : 0));
  }

  async #rest(ms: number): Promise<void> {
    this.#triedAt = performance.now() + ms;
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    this.#triedAt = performance.now();
  }

  get #idleMs(): number {
    return this.#deps.idleMs ?? IDLE_MS;
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  #gauge(name: 'synced' | 'staleness') {
    const { kind, namespace } = this.#plan;
    return this.#deps.metrics[name].labels({ kind, namespace });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Unreached) return 'connection';
  if (!(error instanceof Refusal)) return 'malformed';
  if (error.status === 410) return 'expired';
  return error.status === 429 ? 'throttled' : 'refused';
}
