// The output of ffmpeg through a socket that can be left unread: Node reads a pipe of a child as soon as it has bytes.
import { once } from 'node:events';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const READ_BYTES = 1 << 17;

/** Two connected sockets. */
export interface Outlet {
  /** For the process; the caller destroys it once the process has it. */
  theirs: Socket;
  /** The bytes in chunks, each valid until the next one is requested. Before that, `rest` may let more bytes arrive. */
  read: (rest: (bytes: number) => Promise<void> | undefined) => AsyncGenerator<Buffer>;
  close: () => void;
}

/** Throws when the system has no more descriptors. */
export async function openOutlet(): Promise<Outlet> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-'));
  const server = createServer();
  try {
    const path = join(folder, 'outlet');
    server.listen(path);
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const reads = new Reads(path);
    const [theirs] = await Promise.race([accepted, reads.closed]).catch((error: unknown) => {
      reads.close();
      throw error;
    });
    return { theirs, read: (rest) => reads.read(rest), close: () => reads.close() };
  } finally {
    server.close(); // it deletes its socket
    await rmdir(folder).catch(() => undefined);
  }
}

/** Reads into one buffer, and waits after each read. */
class Reads {
  readonly #socket: Socket;
  readonly #bytes = Buffer.allocUnsafeSlow(READ_BYTES);
  #size = 0;
  #isOver = false;
  #wake = (): void => undefined;
  /** Rejects when the socket is closed. */
  readonly closed: Promise<never>;

  constructor(path: string) {
    const callback = (size: number): boolean => {
      this.#size = size;
      this.#wake();
      return false;
    };
    this.#socket = connect({ path, onread: { buffer: this.#bytes, callback } });
    let fault = new Error('the outlet is closed');
    this.#socket.on('error', (error) => {
      fault = error;
    });
    const { promise, reject } = Promise.withResolvers<never>();
    this.closed = promise;
    this.#socket.on('close', () => {
      this.#isOver = true;
      this.#wake();
      reject(fault);
    });
  }

  async *read(rest: (bytes: number) => Promise<void> | undefined): AsyncGenerator<Buffer> {
    while (await this.#next()) {
      const size = this.#size;
      this.#size = 0;
      yield this.#bytes.subarray(0, size);
      await rest(size);
    }
  }

  async #next(): Promise<boolean> {
    if (this.#size > 0) return true;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#isOver) return false;
    this.#socket.resume();
    await woken;
    return this.#size > 0;
  }

  close(): void {
    this.#socket.destroy();
  }
}
