import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TICK_MS = 500;
/** A statement without a byte of response for this long triggers a probe of the server. */
const SILENT_MS = 2500;
const PROBE_MS = 2000;
/** A timer later than this means that this process itself was blocked. */
const LATE_MS = 500;
const SQL_STATE = /^[0-9A-Z]{5}$/;

interface Watched {
  client: pg.Client;
  isBusy: () => boolean;
  bytesRead: number;
  heardAt: number;
}

/** The socket of a connection, which pg does not declare. */
const socketOf = (client: pg.Client) =>
  (client as unknown as { connection: { stream: { bytesRead?: number; destroy(error: Error): void } } }).connection
    .stream;

/**
 * Closes connections to a server that stopped responding, which `statement_timeout` cannot do because the server
 * enforces it. While a statement gets no response, a new connection distinguishes a slow statement from a hung server.
 * Statements of a closed connection fail as with any lost connection, within 5 seconds.
 */
export class SilenceWatch {
  readonly #settings: pg.ClientConfig;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<boolean> | undefined;

  /** `settings` connect to the server of the watched connections. */
  constructor(settings: pg.ClientConfig) {
    this.#settings = settings;
  }

  /** Watches the connection until it ends. `isBusy` is true while a statement waits for its response. */
  watch(client: pg.Client, isBusy: () => boolean): void {
    const watched = { client, isBusy, bytesRead: 0, heardAt: performance.now() };
    this.#watched.add(watched);
    client.once('end', () => {
      this.#watched.delete(watched);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  #look(): void {
    for (const watched of this.#watched) {
      const { bytesRead = 0 } = socketOf(watched.client);
      const isSilent = watched.isBusy() && bytesRead === watched.bytesRead;
      if (!isSilent) Object.assign(watched, { bytesRead, heardAt: performance.now() });
      else if (performance.now() - watched.heardAt >= SILENT_MS) void this.#judge(watched);
    }
  }

  async #judge(watched: Watched): Promise<void> {
    watched.heardAt = Number.POSITIVE_INFINITY; // checked once at a time
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    const isAlive = await this.#probing;
    const socket = socketOf(watched.client);
    if (isAlive || !watched.isBusy() || socket.bytesRead !== watched.bytesRead) watched.heardAt = performance.now();
    else socket.destroy(new Error('Connection terminated: the database does not answer'));
  }

  /** True when the server responds to a new connection, even by refusing it. */
  async #probe(): Promise<boolean> {
    const client = new pg.Client({ ...this.#settings, connectionTimeoutMillis: PROBE_MS });
    client.on('error', () => undefined);
    const answered = client.connect().then(
      () => true,
      (error: { code?: string }) => SQL_STATE.test(error.code ?? ''),
    );
    const began = performance.now();
    const isAlive = await Promise.race([answered, sleep(PROBE_MS, false, { ref: false })]);
    await nextTurn(); // timers run before sockets are read: a response may be waiting there
    void client.end().catch(() => undefined);
    // If this process itself was blocked, the probe proves nothing.
    return isAlive || performance.now() - began > PROBE_MS + LATE_MS;
  }
}
