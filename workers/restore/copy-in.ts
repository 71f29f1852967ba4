import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type pg from 'pg';

/** What the driver calls while a statement of its own protocol runs. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
  readonly stream: NodeJS.WritableStream & { writableNeedDrain: boolean };
}

/** `copy … from stdin` as the driver takes statements; the rows that were taken, or what went wrong with the bytes or the server. */
class CopyIn {
  readonly done: Promise<number>;
  readonly #text: string;
  readonly #bytes: Readable;
  readonly #settle: { resolve: (rows: number) => void; reject: (error: Error) => void };
  #rows = 0;
  #fault: Error | undefined;

  constructor(text: string, bytes: Readable) {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.done = promise;
    this.#settle = { resolve, reject };
    this.#text = text;
    this.#bytes = bytes;
  }

  submit(wire: Wire): void {
    wire.query(this.#text);
  }

  handleCopyInResponse(wire: Wire): void {
    void this.#send(wire);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)/.exec(text)?.[1] ?? Number.NaN);
  }

  handleError(error: Error): void {
    this.#bytes.destroy();
    this.#settle.reject(this.#fault ?? error);
  }

  handleReadyForQuery(): void {
    if (this.#fault) this.#settle.reject(this.#fault);
    else this.#settle.resolve(this.#rows);
  }

  async #send(wire: Wire): Promise<void> {
    try {
      for await (const chunk of this.#bytes as AsyncIterable<Buffer>) {
        wire.sendCopyFromChunk(chunk);
        if (wire.stream.writableNeedDrain) await once(wire.stream, 'drain');
      }
      wire.endCopyFrom();
    } catch (error) {
      this.#fault ??= error as Error;
      wire.sendCopyFail('the backup broke off'); // nothing of what was sent counts
    }
  }
}

/** Rows of one `copy … from stdin`; all of them or none. Rejects with the fault of the bytes where they broke. */
export async function copyIn(client: pg.Client, text: string, bytes: Readable): Promise<number> {
  bytes.on('error', () => undefined); // read below; one that breaks before that is not lost
  const copy = new CopyIn(text, bytes);
  client.query(copy as never);
  return copy.done;
}
