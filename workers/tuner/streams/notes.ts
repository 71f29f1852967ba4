import { setTimeout as sleep } from 'node:timers/promises';
import { liveNews } from '#platform/live/segments.ts';
import type { StreamFault } from '#platform/live/streams.store.ts';
import type { ProbedStream } from '#platform/media.ts';
import type { Piece } from './cutter.ts';
import type { KeeperDeps } from './deps.ts';
import { closeOutages, markLive, noteServices, openOutage } from './streams.store.ts';

const RETRY_MS = 1000;
const MOST_WAITING = 100;
const LAST_MS = 1000;

type Deps = Pick<KeeperDeps, 'db' | 'redis' | 'log'>;
type Stream = { streamId: string; channelId: string; epoch: number };

/**
 * What a stream writes to the database, in order and apart from its segments: while the database is unavailable the notes wait, and
 * no byte does.
 */
export class StreamNotes {
  readonly #deps: Deps;
  readonly #stream: Stream;
  #waiting: (() => Promise<unknown>)[] = [];
  #writing: Promise<void> | undefined;
  #isOver = false;
  /** The caption services that are noted, as JSON. */
  #services = '';

  constructor(deps: Deps, stream: Stream) {
    this.#deps = deps;
    this.#stream = stream;
  }

  /** The first segment of the source. `interruptedMs`: the broadcast was interrupted then by the end of this tuner's process. */
  live(facts: readonly ProbedStream[], { sinceMs, interruptedMs }: { sinceMs: number; interruptedMs?: number }): void {
    const { db, redis } = this.#deps;
    const { streamId: id, epoch, channelId } = this.#stream;
    this.#add(async () => {
      await markLive(db, { id, epoch }, facts);
      if (interruptedMs !== undefined)
        await openOutage(db, channelId, { from: new Date(interruptedMs), reason: 'tuner-restarted' });
      await closeOutages(db, channelId, new Date(sinceMs));
      await redis.publish(liveNews(channelId), 'live').catch(() => 0);
    });
  }

  /** Services that speak for the first time are in the next master playlist. */
  services({ captions }: Pick<Piece, 'captions'>): void {
    const services = (captions?.services ?? []).map(({ id, kind, language, hearingImpaired }) => {
      return { id, kind, language, hearingImpaired };
    });
    const text = JSON.stringify(services);
    if (text === this.#services) return;
    this.#services = text;
    const { streamId: id, epoch } = this.#stream;
    this.#add(() => noteServices(this.#deps.db, { id, epoch }, services));
  }

  /** The source lost so much of the broadcast. */
  hole(fromMs: number, toMs: number): void {
    const { db } = this.#deps;
    const { channelId } = this.#stream;
    this.#add(async () => {
      await openOutage(db, channelId, { from: new Date(fromMs), reason: 'lost-packets' });
      await closeOutages(db, channelId, new Date(toMs));
    });
  }

  /** The source failed: the broadcast is missing from then on. */
  outage(fromMs: number, reason: StreamFault): void {
    const { db } = this.#deps;
    this.#add(() => openOutage(db, this.#stream.channelId, { from: new Date(fromMs), reason }));
  }

  /** Resolves when all are written, or after a second: then the rest is dropped. */
  async end(): Promise<void> {
    await Promise.race([this.#writing, sleep(LAST_MS, undefined, { ref: false })]);
    this.#isOver = true;
  }

  #add(note: () => Promise<unknown>): void {
    this.#waiting = [...this.#waiting, note].slice(-MOST_WAITING);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    for (let note = this.#waiting[0]; note && !this.#isOver; note = this.#waiting[0]) {
      try {
        await note();
        this.#waiting = this.#waiting.filter((one) => one !== note);
      } catch (error) {
        this.#deps.log.warn({ err: (error as Error).message }, 'a stream is not noted yet');
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }
}
