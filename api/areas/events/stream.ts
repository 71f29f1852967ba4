import type { Socket } from 'node:net';
import type { EventName } from '#platform/events.ts';
import type { Published } from './feed.ts';
import type { Reader } from './reader.ts';

const MOST_BYTES = 1 << 20;
const MOST_EVENTS = 1000;

/** One open answer. It is never waited for: a reader that does not read is cut off. */
export class EventStream {
  readonly socket: Socket;
  readonly types: ReadonlySet<EventName> | undefined;
  /** Session or key, and device: four of them at once. */
  readonly slot: string;
  reader: Reader;
  /** Events that came while the replay was read. */
  held: Published[] | undefined = [];
  #waiting = 0;
  #taken = 0;
  #stuckSince = 0;

  constructor(socket: Socket, { reader, types, slot }: Pick<EventStream, 'reader' | 'types' | 'slot'>) {
    this.socket = socket;
    this.reader = reader;
    this.types = types;
    this.slot = slot;
    socket.on('drain', () => {
      this.#waiting = 0;
    });
  }

  get open(): boolean {
    return !this.socket.destroyed && !this.socket.writableEnded;
  }

  wants(event: EventName): boolean {
    return this.types === undefined || this.types.has(event);
  }

  /** A whole block, or the end of the stream. */
  write(block: Buffer | string): void {
    if (!this.open) return;
    if (this.socket.write(block)) return;
    this.#waiting += 1;
    if (this.#waiting > MOST_EVENTS || this.socket.writableLength > MOST_BYTES) this.cut();
  }

  /** True when the socket has taken no byte for so long while some wait. */
  isStuck(now: number, afterMs: number): boolean {
    const taken = this.socket.bytesWritten - this.socket.writableLength; // the former counts what waits, too
    const moves = this.socket.writableLength === 0 || taken !== this.#taken;
    this.#taken = taken;
    if (moves) this.#stuckSince = now;
    return !moves && now - this.#stuckSince >= afterMs;
  }

  cut(): void {
    this.socket.destroy();
  }

  /** An orderly end; the client comes back after so many milliseconds, to another replica. */
  end(retryMs: number): void {
    if (!this.open) return;
    this.socket.write(`retry: ${retryMs}\n\n`);
    this.socket.destroySoon();
  }
}
