import type { Socket } from 'node:net';
import type { EventName } from '#platform/events.ts';
import type { Published } from './feed.ts';
import type { Reader } from './reader.ts';

const MOST_BYTES = 1 << 20;
const MOST_EVENTS = 1000;

/** One open response. Writing never waits: a client that does not read is disconnected. */
export class EventStream {
  readonly socket: Socket;
  readonly types: ReadonlySet<EventName> | undefined;
  /** Session or key, and device; at most four streams each. */
  readonly slot: string;
  reader: Reader;
  /** Events that arrived during the replay; undefined afterwards. */
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

  /** Writes a whole block; disconnects when too much is buffered. */
  write(block: Buffer | string): void {
    if (!this.open) return;
    if (this.socket.write(block)) return;
    this.#waiting += 1;
    if (this.#waiting > MOST_EVENTS || this.socket.writableLength > MOST_BYTES) this.cut();
  }

  /** Whether the socket accepted no byte for so long although some are buffered. */
  isStuck(now: number, afterMs: number): boolean {
    const taken = this.socket.bytesWritten - this.socket.writableLength; // bytesWritten includes buffered bytes
    const moves = this.socket.writableLength === 0 || taken !== this.#taken;
    this.#taken = taken;
    if (moves) this.#stuckSince = now;
    return !moves && now - this.#stuckSince >= afterMs;
  }

  cut(): void {
    this.socket.destroy();
  }

  /** Ends the stream in order; the client reconnects after so many milliseconds. */
  end(retryMs: number): void {
    if (!this.open) return;
    this.socket.write(`retry: ${retryMs}\n\n`);
    this.socket.destroySoon();
  }
}
