// Bodies without an end, read at the pace of their reader.
import type { IncomingMessage } from 'node:http';
import type { OnReadOpts, Socket } from 'node:net';
import { finished } from 'node:stream';

const READ_BYTES = 1 << 17;

/** Reads of one connection into one buffer: otherwise each read takes memory of its own, and a paused socket goes on to read. */
export interface BatchReads {
  onread: OnReadOpts;
  /** The body in batches, each valid until the next one is requested. Before that, `rest` may let more bytes arrive. */
  batches: (body: IncomingMessage, rest: (bytes: number) => Promise<void> | undefined) => AsyncGenerator<Buffer>;
}

/** For a connection whose response is read as a stream, or in batches. */
export function createBatchReads(): BatchReads {
  let pauses = false;
  return {
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(this: Socket, size: number, buffer: Uint8Array) {
        this.emit('data', buffer.subarray(0, size)); // the parser copies the body
        return !pauses;
      },
    },
    async *batches(body, rest) {
      pauses = true;
      body.socket.pause();
      body._read = () => undefined; // it would resume the socket
      const batch = new Batch(body);
      for (;;) {
        const bytes = batch.take();
        if (bytes) {
          yield bytes;
          await rest(bytes.length);
        } else if (batch.isOver) return;
        else await batch.more();
      }
    },
  };
}

/** The bytes of a body between two pauses of its socket. */
class Batch {
  readonly #body: IncomingMessage;
  #bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  /** TLS emits bytes after a pause too, which must not change those that were taken. */
  #spare = Buffer.allocUnsafeSlow(READ_BYTES);
  #size = 0;
  #fault: Error | null | undefined;
  #wake = (): void => undefined;

  constructor(body: IncomingMessage) {
    this.#body = body;
    // Bytes that came with the head must not flow later, while a batch is read.
    for (let chunk = body.read(); chunk !== null; chunk = body.read()) this.#add(chunk);
    body.on('data', (chunk: Buffer) => this.#add(chunk));
    finished(body, (fault) => {
      this.#fault = fault ?? null;
      this.#wake();
    });
  }

  get isOver(): boolean {
    if (this.#fault) throw this.#fault;
    return this.#fault === null;
  }

  take(): Buffer | undefined {
    if (this.#size === 0) return undefined;
    const bytes = this.#bytes.subarray(0, this.#size);
    [this.#bytes, this.#spare] = [this.#spare, this.#bytes];
    this.#size = 0;
    return bytes;
  }

  async more(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#body.socket.resume();
    await woken;
  }

  #add(chunk: Buffer): void {
    if (this.#size + chunk.length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#size)], 2 * (this.#size + chunk.length));
    this.#size += chunk.copy(this.#bytes, this.#size);
    this.#wake();
  }
}
