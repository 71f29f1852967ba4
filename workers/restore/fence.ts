import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Redis } from '#platform/redis.ts';
import { APPLICATION } from './connection.ts';

const LOOK_MS = 100;
const PATIENCE_MS = 30_000;
/** How long to wait for ending processes to disconnect from Redis; a hung one is ignored after that. */
const REDIS_PATIENCE_MS = 5000;

/**
 * Shuts everyone out: from now on no connection of an older epoch is accepted, and all earlier ones are closed when
 * this returns, so that only the restore can write.
 */
export async function shut(client: pg.Client): Promise<void> {
  await client.query('update foyer_restore.epoch set number = number + 1, closed = true');
  const end = Date.now() + PATIENCE_MS;
  const { rows } = await client.query<{ at: Date }>('select clock_timestamp() as at');
  const shutAt = rows[0]?.at ?? new Date();
  while ((await endOthers(client, shutAt)) > 0) {
    if (Date.now() > end) throw new Error('connections of before do not end');
    await sleep(LOOK_MS);
  }
}

/** Connections that began before; newer ones check the changed epoch. */
async function endOthers(client: pg.Client, before: Date): Promise<number> {
  const { rows } = await client.query<{ ended: number }>(
    `select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity
      where datname = current_database() and usename = current_user and backend_type = 'client backend'
        and application_name <> $1 and backend_start <= $2`,
    [APPLICATION, before],
  );
  return rows[0]?.ended ?? 0;
}

/** Lets everyone connect again: earlier processes exit and are restarted, because the epoch differs. */
export async function open(client: pg.Client): Promise<void> {
  await client.query('update foyer_restore.epoch set closed = false, progress = 0 where closed');
}

/** Empties Redis, again once all earlier processes that could still write are gone. */
export async function emptyRedis(redis: Redis, since: Date): Promise<void> {
  await redis.flushdb();
  const end = Date.now() + REDIS_PATIENCE_MS;
  while (Date.now() < end && (await olderClients(redis, since)) > 0) await sleep(LOOK_MS);
  await redis.flushdb();
}

/** Connections to the same Redis database that are older than the fence. */
async function olderClients(redis: Redis, since: Date): Promise<number> {
  const own = String(await redis.client('ID'));
  const list = String(await redis.client('LIST'));
  const seconds = (Date.now() - since.getTime()) / 1000;
  const field = (line: string, name: string): string => {
    const start = `${name}=`;
    const word = line.split(' ').find((one) => one.startsWith(start));
    return word?.slice(start.length) ?? '';
  };
  const lines = list.split('\n').filter(Boolean);
  const database = lines.map((line) => (field(line, 'id') === own ? field(line, 'db') : '')).find(Boolean);
  return lines.filter(
    (line) => field(line, 'id') !== own && field(line, 'db') === database && Number(field(line, 'age')) > seconds,
  ).length;
}
