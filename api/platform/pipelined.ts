import pg from 'pg';
import { pass } from './fence.ts';
import { SilenceWatch } from './silence.ts';

/** A short read, prepared by its name. */
export interface ShortRead {
  name: string | undefined;
  text: string;
  values: unknown[];
}

const LANES = 3;
const IDLE_MS = 15_000;
/**
 * Otherwise Postgres plans each page again when its row estimates differ, and planning takes three times as long as
 * reading.
 */
const PLANNED_ONCE = 'set plan_cache_mode = force_generic_plan';

/**
 * Connections that many short reads share at once (the pipeline mode of Postgres' protocol): all reads of one turn of
 * the event loop leave in one write, and none waits for the response of another. A slow statement delays those behind
 * it, so only reads by key and index walks belong here.
 */
export class Pipelined {
  readonly #lanes: Lane[];
  readonly #resting: NodeJS.Timeout;

  constructor(settings: pg.ClientConfig) {
    const silence = new SilenceWatch(settings);
    this.#lanes = Array.from({ length: LANES }, () => new Lane(settings, silence));
    this.#resting = setInterval(() => {
      for (const lane of this.#lanes) lane.rest();
    }, IDLE_MS).unref();
  }

  read<Row extends pg.QueryResultRow>(statement: ShortRead): Promise<Row[]> {
    return this.#lanes.reduce((a, b) => (b.waiting < a.waiting ? b : a)).read<Row>(statement);
  }

  /** Closes the connections once their reads are answered. */
  async end(): Promise<void> {
    clearInterval(this.#resting);
    await Promise.all(this.#lanes.map((lane) => lane.end()));
  }
}

class Lane {
  /** Reads without a response yet. */
  waiting = 0;
  readonly #settings: pg.ClientConfig;
  readonly #silence: SilenceWatch;
  #connecting: Promise<pg.Client> | undefined;
  #client: pg.Client | undefined;
  #corked = false;
  #used = false;

  constructor(settings: pg.ClientConfig, silence: SilenceWatch) {
    this.#settings = settings;
    this.#silence = silence;
  }

  async read<Row extends pg.QueryResultRow>({ name, text, values }: ShortRead): Promise<Row[]> {
    this.waiting += 1;
    this.#used = true;
    try {
      const client = this.#client ?? (await this.#connected());
      this.#cork(client);
      const { rows } = await client.query<Row>({ text, values, ...(name === undefined ? {} : { name }) });
      return rows;
    } finally {
      this.waiting -= 1;
    }
  }

  /** Closes the connection if it was not used since the last call. */
  rest(): void {
    const idle = !this.#used && this.waiting === 0;
    this.#used = false;
    const client = this.#client;
    if (!idle || !client) return;
    this.#client = undefined;
    this.#connecting = undefined;
    void client.end().catch(() => undefined);
  }

  async end(): Promise<void> {
    const client = await this.#connecting?.catch(() => undefined);
    await client?.end();
  }

  #connected(): Promise<pg.Client> {
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#settings, pipeline: true });
    const gone = (): void => {
      if (this.#client !== undefined && this.#client !== client) return; // another one replaced it
      this.#client = undefined;
      this.#connecting = undefined;
    };
    client.on('error', gone); // waiting reads are rejected by their own promises
    client.on('end', gone);
    try {
      await client.connect();
      this.#silence.watch(client, () => this.waiting > 0);
      await pass(client);
      await client.query(PLANNED_ONCE);
    } catch (error) {
      gone();
      void client.end().catch(() => undefined); // refused, or broken already
      throw error;
    }
    this.#client = client;
    return client;
  }

  /** Buffers writes until the turn of the event loop ends. */
  #cork(client: pg.Client): void {
    if (this.#corked) return;
    this.#corked = true;
    const { stream } = client.connection;
    stream.cork();
    setImmediate(() => {
      this.#corked = false;
      stream.uncork();
    });
  }
}
