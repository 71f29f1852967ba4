import type { ServerResponse } from 'node:http';
import type { EventName } from '#platform/events.ts';
import type { Published } from './feed.ts';
import type { Reader } from './reader.ts';

const MOST_BYTES = 1 << 20;
const MOST_EVENTS = 1000;

/** One open response. It is never waited for: a reader that does not read is cut off. */
export class EventStream {
  readonly response: ServerResponse;
  readonly types: ReadonlySet<EventName> | undefined;
  /** Session or key, and device: four of them at once. */
  readonly slot: string;
  reader: Reader;
  /** Events that came while the replay was read. */
  held: Published[] | undefined = [];
  #waiting = 0;
  #written = 0;
  #stuckSince = 0;

  constructor(response: ServerResponse, { reader, types, slot }: Pick<EventStream, 'reader' | 'types' | 'slot'>) {
    this.response = response;
    this.reader = reader;
    this.types = types;
    this.slot = slot;
    response.on('drain', () => {
      this.#waiting = 0;
    });
  }

  get open(): boolean {
    return !this.response.destroyed && !this.response.writableEnded;
  }

  wants(event: EventName): boolean {
    return this.types === undefined || this.types.has(event);
  }

  /** A whole block, or the end of the stream. */
  write(block: string): void {
    if (!this.open) return;
    if (this.response.write(block)) return;
    this.#waiting += 1;
    if (this.#waiting > MOST_EVENTS || this.response.writableLength > MOST_BYTES) this.cut();
  }

  /** True when the socket has taken no byte for so long while some wait. */
  isStuck(now: number, afterMs: number): boolean {
    const written = this.response.socket?.bytesWritten ?? 0;
    const moves = this.response.writableLength === 0 || written !== this.#written;
    this.#written = written;
    if (moves) this.#stuckSince = now;
    return !moves && now - this.#stuckSince >= afterMs;
  }

  cut(): void {
    this.response.destroy();
  }

  /** An orderly end; the client comes back after so many milliseconds, to another replica. */
  end(retryMs: number): void {
    if (this.open) this.response.end(`retry: ${retryMs}\n\n`);
  }
}
