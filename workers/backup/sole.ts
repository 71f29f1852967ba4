import type pg from 'pg';
import { FencedClient } from '#platform/fence.ts';
import type { WorkerDeps } from '#workers/work.ts';

/** Class and number of the advisory lock for creating and deleting backups. */
const LOCK = [4713, 1];

/**
 * Runs the work on a connection of its own that holds the lock; `gone` is aborted when the connection is lost.
 * Undefined while another process holds the lock. Throws Fenced: reads of this work would block an exchange of the
 * database, or see the other one.
 */
export async function asSole<T>(
  { config }: Pick<WorkerDeps, 'config'>,
  work: (client: pg.Client, gone: AbortSignal) => Promise<T>,
): Promise<{ value: T } | undefined> {
  const client = new FencedClient({
    connectionString: config.databaseUrl,
    keepAlive: true,
    application_name: 'foyer-backup',
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort('connection'));
  client.on('end', () => lost.abort('connection'));
  await client.connect();
  try {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', LOCK);
    return rows[0]?.held ? { value: await work(client, lost.signal) } : undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
