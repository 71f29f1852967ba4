import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FencedClient } from './fence.ts';
import type { Log } from './log.ts';
import { OUTBOX_CHANNEL } from './outbox.ts';
import type { Redis } from './redis.ts';

/** Stream that every pod reads once; the `number` of an event is its id there (`<number>-0`). */
export const EVENT_STREAM = 'foyer:events';
const KEPT = 1000;
const LOCK = 'foyer.event-relay';

export interface Relay {
  stop(): Promise<void>;
}

/**
 * Numbers committed outbox rows without gaps, stores them in `events` and adds them to the Redis stream. An advisory
 * lock, released with its connection, lets one process at a time do it; without Redis, readers use the table.
 */
export function startRelay(databaseUrl: string, redis: Redis, log: Log): Relay {
  const stopping = new AbortController();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await relayOnce(databaseUrl, redis, stopping.signal);
      } catch (error) {
        log.debug({ err: (error as Error).message }, 'event relay lost its connection');
      }
      await sleep(1000, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

async function relayOnce(databaseUrl: string, redis: Redis, signal: AbortSignal): Promise<void> {
  const client = new FencedClient({ connectionString: databaseUrl, keepAlive: true, application_name: 'foyer-relay' });
  const waker = { wake: () => undefined as void };
  client.on('error', () => waker.wake());
  client.on('end', () => waker.wake());
  client.on('notification', () => waker.wake());
  await client.connect();
  try {
    while (!signal.aborted && !(await holdsLock(client)))
      await sleep(2000, undefined, { signal }).catch(() => undefined);
    await client.query(`listen ${OUTBOX_CHANNEL}`);
    while (!signal.aborted) {
      const moved = await moveBatch(client, redis);
      if (moved === 0) await waitForWake(waker, signal);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function holdsLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock(hashtext($1)) as got', [LOCK]);
  return rows[0]?.got === true;
}

/** Until a notification, the end of the connection, or a second: a notification may be lost, a row is not. */
async function waitForWake(waker: { wake: () => void }, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end); // otherwise one listener would stay for each second
      resolve();
    };
    const timer = setTimeout(end, 1000);
    waker.wake = end;
    signal.addEventListener('abort', end, { once: true });
  });
}

interface Published {
  number: number;
  id: string;
  event: string;
  at: Date;
  payload: unknown;
  facts: unknown;
}

async function moveBatch(client: pg.Client, redis: Redis): Promise<number> {
  const { rows } = await client.query<Published>(`
    with taken as (delete from outbox where seq in (select seq from outbox order by seq limit 200) returning *),
         last as (select coalesce(max(number), 0) as number from events)
    insert into events (number, id, event, at, payload, facts)
    select last.number + row_number() over (order by seq), id, event, at, payload, facts from taken, last order by seq
    returning *`);
  if (rows.length === 0) return 0;
  rows.sort((a, b) => a.number - b.number);
  const pipeline = redis.pipeline();
  for (const row of rows) {
    const line = JSON.stringify({ id: row.id, event: row.event, at: row.at.toISOString(), payload: row.payload });
    pipeline.xadd(
      EVENT_STREAM,
      'MAXLEN',
      '~',
      KEPT,
      `${row.number}-0`,
      'event',
      line,
      'facts',
      JSON.stringify(row.facts),
    );
  }
  await pipeline.exec().catch(() => undefined);
  return rows.length;
}
