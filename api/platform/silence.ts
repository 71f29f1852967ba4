import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TICK_MS = 500;
/** A statement without a byte of an answer for this long has the server probed. */
const SILENT_MS = 2500;
const PROBE_MS = 2000;
/** So much later than asked for, and it is this process that stood still. */
const LATE_MS = 500;
const SQL_STATE = /^[0-9A-Z]{5}$/;

interface Watched {
  client: pg.Client;
  isBusy: () => boolean;
  bytesRead: number;
  heardAt: number;
}

/** The socket of a connection; pg does not declare it. */
const socketOf = (client: pg.Client) =>
  (client as unknown as { connection: { stream: { bytesRead?: number; destroy(error: Error): void } } }).connection
    .stream;

/**
 * Cuts connections to a server that no longer answers, which `statement_timeout` cannot do: the server enforces that one.
 * While a statement waits in silence, a new connection tells a slow statement from a hung server. The statements of a
 * connection that is cut fail as with any lost connection, within 5 seconds.
 */
export class SilenceWatch {
  readonly #settings: pg.ClientConfig;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<boolean> | undefined;

  /** `settings` reach the server that the watched connections belong to. */
  constructor(settings: pg.ClientConfig) {
    this.#settings = settings;
  }

  /** Watches the connection until it ends. `isBusy` is true while a statement waits for its answer. */
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
    watched.heardAt = Number.POSITIVE_INFINITY; // judged once at a time
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    const isAlive = await this.#probing;
    const socket = socketOf(watched.client);
    if (isAlive || !watched.isBusy() || socket.bytesRead !== watched.bytesRead) watched.heardAt = performance.now();
    else socket.destroy(new Error('Connection terminated: the database does not answer'));
  }

  /** True when the server answers a new connection, if only by a refusal. */
  async #probe(): Promise<boolean> {
    const client = new pg.Client({ ...this.#settings, connectionTimeoutMillis: PROBE_MS });
    client.on('error', () => undefined);
    const answered = client.connect().then(
      () => true,
      (error: { code?: string }) => SQL_STATE.test(error.code ?? ''),
    );
    const began = performance.now();
    const isAlive = await Promise.race([answered, sleep(PROBE_MS, false, { ref: false })]);
    await nextTurn(); // timers run before sockets are read: an answer may wait there
    void client.end().catch(() => undefined);
    // A process that stood still itself knows nothing.
    return isAlive || performance.now() - began > PROBE_MS + LATE_MS;
  }
}
