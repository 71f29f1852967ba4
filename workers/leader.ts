import type { Config } from '#platform/config.ts';
import { FencedClient } from '#platform/fence.ts';

/** Class of the advisory locks of work that one worker of the deployment does. */
const CLASS = 4712;

/** Runs the work while an advisory lock is held on a connection of its own; losing the connection ends it. */
export async function asLeader(
  config: Pick<Config, 'databaseUrl'>,
  { lock, signal }: { lock: number; signal: AbortSignal },
  work: (held: AbortSignal) => Promise<void>,
): Promise<void> {
  const client = new FencedClient({
    connectionString: config.databaseUrl,
    keepAlive: true,
    application_name: 'foyer-scan-watch',
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  await client.connect();
  try {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
      CLASS,
      lock,
    ]);
    if (rows[0]?.held) await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    await client.end().catch(() => undefined);
  }
}
