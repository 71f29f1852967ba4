import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import type { Log } from './log.ts';

/** A knex over the pool, or a transaction of it: every store function takes one first. */
export type Db = Knex;

pg.types.setTypeParser(20, Number); // int8: counts and sizes stay below 2^53

export interface DatabaseOptions {
  max?: number;
  /** Ends a statement that runs longer, ms. */
  statementTimeoutMs?: number;
  name?: string;
}

/** One pool. Connections come and go with the server: a lost one is replaced at the next query. */
export function connectDatabase(url: string, log: Log, options: DatabaseOptions = {}): Db {
  const db = knexFactory({
    client: 'pg',
    connection: {
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      statement_timeout: options.statementTimeoutMs ?? 15_000,
      idle_in_transaction_session_timeout: 60_000,
      application_name: options.name ?? 'foyer',
    },
    pool: { min: 0, max: options.max ?? 10, acquireTimeoutMillis: 10_000, idleTimeoutMillis: 60_000 },
    acquireConnectionTimeout: 10_000,
  });
  db.on('query-response', (_rows: unknown, query: { sql: string; __knexQueryUid: string }, builder: unknown) => {
    if (log.isLevelEnabled('trace')) log.trace({ sql: query.sql, builder: typeof builder }, 'query');
  });
  return db;
}

interface Named {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * A statement that Postgres prepares once a connection, for hot paths (knex does not name its statements). Runs inside
 * the caller's transaction when `db` is one.
 */
export async function named<Row extends object>(db: Db, statement: Named): Promise<Row[]> {
  const client = db.client as {
    acquireConnection(): Promise<pg.Client>;
    releaseConnection(c: pg.Client): Promise<void>;
  };
  const connection = await client.acquireConnection(); // a transaction's client gives and keeps its own
  try {
    const { rows } = await connection.query<Row>(statement);
    return rows;
  } finally {
    await client.releaseConnection(connection);
  }
}

const LOST = new Set(['57P01', '57P02', '57P03', '08000', '08003', '08006', '08001', '08004', '53300', '25006']);
const SOCKET = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH']);

/** True when the database was away, not the statement wrong: answered 503 and worth another try. */
export function databaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: string }).code ?? '';
  if (LOST.has(code) || SOCKET.has(code)) return true;
  return /Connection terminated|Timeout acquiring a connection|timeout expired|Unable to acquire a connection/.test(
    error.message,
  );
}

/** Breach of the unique index `constraint`. */
export function breaks(error: unknown, constraint: string): boolean {
  return (error as { code?: string }).code === '23505' && (error as { constraint?: string }).constraint === constraint;
}
