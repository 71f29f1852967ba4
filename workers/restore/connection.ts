import pg from 'pg';

/** Identifies connections of the restore process; all others are closed at the switch. */
export const APPLICATION = 'foyer-restore';
/**
 * Postgres notices within seconds that the process is gone, with its machine or during a statement, so that another one
 * may start.
 */
const WATCHED =
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c client_connection_check_interval=2000';
/** One process restores at a time. */
const LOCK = 'foyer.restore';
/** Held against migrations of a roll-out, which would change the database that is about to be put aside. */
const MIGRATIONS = 'foyer.migrations';

/** A connection that no fence blocks, without time limits. Emits an error when it is lost. */
export async function connectRestore(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    keepAlive: true,
    application_name: APPLICATION,
    options: WATCHED,
  });
  client.on('error', () => undefined); // reported by the statement that fails
  await client.connect();
  return client;
}

/** False when another process restores. First ends connections that a killed process left running. */
export async function holdAlone(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock(hashtext($1)) as held', [LOCK]);
  if (!rows[0]?.held) return false;
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = $1 and pid <> pg_backend_pid()`,
    [APPLICATION],
  );
  return true;
}

export async function holdMigrations(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock(hashtext($1))', [MIGRATIONS]);
}

/** All of it or nothing. */
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const done = await work();
    await client.query('commit');
    return done;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // it is lost with its connection
    throw error;
  }
}

export const quoted = (name: string): string => pg.escapeIdentifier(name);
