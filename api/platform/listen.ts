import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { FencedClient } from './fence.ts';

export interface Listening {
  channel: string;
  heard: (payload: string) => void;
  /** Called after each connection; notifications sent in between are lost. */
  connected: () => void;
  signal: AbortSignal;
}

/** Listens to a Postgres channel on a connection of its own, reconnecting until aborted. */
export async function listen(databaseUrl: string, { channel, heard, connected, signal }: Listening): Promise<void> {
  while (!signal.aborted) {
    const client = new FencedClient({
      connectionString: databaseUrl,
      keepAlive: true,
      application_name: 'foyer-listen',
    });
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => heard(payload ?? ''));
    try {
      const ended = once(client, 'end', { signal });
      ended.catch(() => undefined);
      await client.connect();
      await client.query(`listen ${channel}`);
      connected();
      await ended;
    } catch {
      // unavailable or aborted
    }
    await client.end().catch(() => undefined);
    await sleep(1000, undefined, { signal }).catch(() => undefined);
  }
}
