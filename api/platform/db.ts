import { setTimeout as sleep } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { Fenced, pass } from './fence.ts';
import type { Log } from './log.ts';
import { Pipelined } from './pipelined.ts';
import { SilenceWatch } from './silence.ts';
import type { TypedKnex } from './typed-query.ts';

/** A knex on the pool, or a transaction of it: the first argument of every store function. */
export type Db = TypedKnex;

pg.types.setTypeParser(20, Number); // int8: counts and sizes stay below 2^53

export interface DatabaseOptions {
  max?: number;
  /** Ends statements that run longer, ms. */
  statementTimeoutMs?: number;
  name?: string;
  /** Connects also while a restore exchanges the database, and in any epoch: for the processes that take part in it. */
  unfenced?: boolean;
  /** Fails within 5 seconds when the server hangs, for processes that serve users; others wait. */
  impatient?: boolean;
}

const SHORT_MS = 5000;
const PATIENT = { connectMs: 5000, acquireMs: 10_000 };
const IMPATIENT = { connectMs: 2500, acquireMs: 5000 };
const pipelines = new WeakMap<object, Pipelined>();

/** Lets the short reads of this database share connections; for processes that serve many requests. */
export function pipelineReads(db: Db): void {
  const { connection } = (db.client as { config: { connection: pg.ClientConfig } }).config;
  pipelines.set(db.client as object, new Pipelined({ ...connection, statement_timeout: SHORT_MS }));
}

/** Closes every connection, including the shared ones. */
export async function disconnectDatabase(db: Db): Promise<void> {
  await pipelines.get(db.client as object)?.end();
  await db.destroy();
}

/** One pool. A lost connection is replaced at the next query. */
export function connectDatabase(url: string, log: Log, options: DatabaseOptions = {}): Db {
  const { connectMs, acquireMs } = options.impatient ? IMPATIENT : PATIENT;
  const silence = options.impatient ? new SilenceWatch({ connectionString: url }) : undefined;
  const db = knexFactory({
    client: 'pg',
    connection: {
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      statement_timeout: options.statementTimeoutMs ?? 15_000,
      idle_in_transaction_session_timeout: 60_000,
      application_name: options.name ?? 'foyer',
    },
    pool: {
      min: 0,
      max: options.max ?? 10,
      acquireTimeoutMillis: acquireMs,
      idleTimeoutMillis: 60_000,
      ...(!options.unfenced && { afterCreate: admission(silence) }),
    },
    acquireConnectionTimeout: acquireMs,
    log: { warn: (text: string) => log.warn({ text }, 'the database driver warns') }, // it writes to the console otherwise
  });
  db.on('query-response', (_rows: unknown, query: { sql: string; __knexQueryUid: string }, builder: unknown) => {
    if (log.isLevelEnabled('trace')) log.trace({ sql: query.sql, builder: typeof builder }, 'query');
  });
  return db as unknown as Db;
}

type Admitted = (error: Error | null, connection: pg.Client) => void;

/** Knex leaves a connection that is refused here open. */
function admission(silence: SilenceWatch | undefined): (connection: pg.Client, done: Admitted) => void {
  return (connection, done) => {
    silence?.watch(connection, () => !(connection as unknown as { readyForQuery: boolean }).readyForQuery);
    pass(connection).then(
      () => done(null, connection),
      (error: Error) => {
        void connection.end().catch(() => undefined);
        done(error, connection);
      },
    );
  };
}

interface Named {
  name: string | undefined;
  text: string;
  values: unknown[];
  /** Ends the statement after this many milliseconds, with Postgres' own error code. */
  stopAfterMs?: number | undefined;
  /**
   * A read by key or an index walk: it may share a connection (`pipelineReads`), where it is ended after five seconds.
   */
  short?: boolean | undefined;
}

interface Connections {
  acquireConnection(): Promise<pg.Client>;
  releaseConnection(connection: pg.Client): Promise<void>;
  cancelQuery(connection: pg.Client): Promise<void>;
  emit(event: 'query', query: { sql: string; bindings: unknown[] }): void;
}

/**
 * A statement that Postgres prepares once for each connection, for hot paths (knex does not name its statements). Runs
 * in the caller's transaction if `db` is one.
 */
export async function named<Row extends object>(db: Db, statement: Named): Promise<Row[]> {
  const { stopAfterMs, name, text, values } = statement;
  const shared = statement.short ? pipelines.get(db.client as object) : undefined; // none if `db` is a transaction
  if (shared) {
    (db.client as Connections).emit('query', { sql: text, bindings: values });
    return shared.read<Row>({ name, text, values });
  }
  const client = db.client as Connections;
  const connection = await client.acquireConnection(); // a transaction returns its own connection
  client.emit('query', { sql: text, bindings: values });
  const stop = (): void => void client.cancelQuery(connection).catch(() => undefined); // it has ended in the meantime
  const timer = stopAfterMs === undefined ? undefined : setTimeout(stop, stopAfterMs);
  try {
    const { rows } = await connection.query<Row>({ text, values, ...(name === undefined ? {} : { name }) });
    return rows;
  } finally {
    clearTimeout(timer);
    await client.releaseConnection(connection);
  }
}

/** Runs `work` on a connection of the driver; on that of the transaction, if `db` is one. */
export async function withConnection<T>(db: Db, work: (connection: pg.Client) => Promise<T>): Promise<T> {
  const client = db.client as Connections;
  const connection = await client.acquireConnection(); // a transaction returns its own connection
  try {
    return await work(connection);
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Ends the statement that runs on a connection of `withConnection`; nothing when it ended in the meantime. */
export async function stopStatement(db: Db, connection: pg.Client): Promise<void> {
  await (db.client as Connections).cancelQuery(connection).catch(() => undefined);
}

/** A placeholder in a query for a value that is given when it runs. */
export class Slot {
  readonly name: string;
  readonly sample: unknown;
  /** `sample` is the value that the query is built with, if its text depends on the value. */
  constructor(name: string, sample?: unknown) {
    this.name = name;
    this.sample = sample;
  }
  valueOf(): unknown {
    return this.sample;
  }
}

interface Written {
  /** Undefined when Postgres has the most statements it may keep; then it parses the text each time. */
  name: string | undefined;
  text: string;
  bindings: readonly unknown[];
}

export interface Remembered {
  /** Everything that the text and the fixed values of the query depend on. */
  key: string;
  build: () => Knex.QueryBuilder | Knex.Raw;
  slots?: Readonly<Record<string, unknown>>;
  stopAfterMs?: number;
  short?: boolean;
}

const written = new Map<string, Written>();
const names = new Map<string, string>();
const MOST_WRITTEN = 2000;
const MOST_NAMED = 200; // each uses memory on every connection

/**
 * Runs a query that knex builds only once for its key, because building costs more than running it. Prepared by name.
 */
export async function remembered<Row extends object>(db: Db, query: Remembered): Promise<Row[]> {
  const { name, text, bindings } = written.get(query.key) ?? write(query.key, query.build);
  const values = bindings.map((value) => (value instanceof Slot ? query.slots?.[value.name] : value));
  const { stopAfterMs, short } = query;
  return named<Row>(db, { name, text, values, stopAfterMs, short });
}

function write(key: string, build: Remembered['build']): Written {
  const { sql, bindings } = build().toSQL().toNative();
  const known = names.get(sql);
  const name = known ?? (names.size < MOST_NAMED ? `remembered-${names.size}` : undefined);
  if (name) names.set(sql, name);
  if (written.size >= MOST_WRITTEN) written.clear();
  const fresh = { name, text: sql, bindings };
  written.set(key, fresh);
  return fresh;
}

interface Waiter<Row> {
  resolve: (row: Row | undefined) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads many rows in one query instead of many: keys requested in the same turn of the event loop are sent to Postgres
 * together. The statement takes an array and returns `key` and the row as JSON.
 */
export function gathered<Row extends object>(statement: { name: string; text: string }) {
  const waiting = new WeakMap<Db, Map<string, Waiter<Row>[]>>();
  const read = async (db: Db, batch: Map<string, Waiter<Row>[]>): Promise<void> => {
    const everyone = [...batch.values()].flat();
    try {
      const rows = await named<{ key: string; row: Row }>(db, {
        ...statement,
        values: [[...batch.keys()]],
        short: true,
      });
      const found = new Map(rows.map(({ key, row }) => [key, row]));
      for (const [key, waiters] of batch) for (const waiter of waiters) waiter.resolve(found.get(key));
    } catch (error) {
      for (const waiter of everyone) waiter.reject(error);
    }
  };
  return (db: Db, key: string): Promise<Row | undefined> =>
    new Promise((resolve, reject) => {
      let batch = waiting.get(db);
      if (!batch) {
        const fresh = new Map<string, Waiter<Row>[]>();
        batch = fresh;
        waiting.set(db, fresh);
        setImmediate(() => {
          waiting.delete(db);
          void read(db, fresh);
        });
      }
      const waiters = batch.get(key);
      if (waiters) waiters.push({ resolve, reject });
      else batch.set(key, [{ resolve, reject }]);
    });
}

const LOST = new Set(['57P01', '57P02', '57P03', '08000', '08003', '08006', '08001', '08004', '53300', '25006']);
/** Its password was changed, and processes with the new one are about to start. At a start, the password is wrong. */
const REFUSED = new Set(['28P01', '28000']);
const SOCKET = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
]);

/** True when the database was unavailable, not the statement wrong: answered with 503, and worth a retry. */
export function databaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof Fenced) return true;
  const code = (error as { code?: string }).code ?? '';
  if (LOST.has(code) || REFUSED.has(code) || SOCKET.has(code)) return true;
  return /Connection terminated|Timeout acquiring a connection|timeout expired|Unable to acquire a connection|is not queryable/.test(
    error.message,
  );
}

/** The row of a query that always finds one, such as the caller's account. */
export function existing<R extends object>(row: R | undefined): R {
  if (!row) throw new Error('no row');
  return row;
}

/** Waits while the database starts; throws its error if it is not up after a minute. */
export async function databaseUp(db: Db, withinMs = 60_000): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      await db.raw('select 1');
      return;
    } catch (error) {
      const isRefused = REFUSED.has((error as { code?: string }).code ?? '');
      if (isRefused || !databaseUnavailable(error) || Date.now() > end) throw error;
      await sleep(500);
    }
  }
}

/** Whether the error is a violation of the unique index `constraint`. */
export function breaks(error: unknown, constraint: string): boolean {
  return (error as { code?: string }).code === '23505' && (error as { constraint?: string }).constraint === constraint;
}
