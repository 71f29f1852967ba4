import type { Db } from '#platform/db.ts';
import type { Settings } from '#platform/settings.ts';
import { readState } from './messages.store.ts';
import { mailReady } from './write.ts';

/** Off without a mail server, down while sending is paused, degraded after a fault. */
export async function mailHealth(db: Db, settings: Settings): Promise<'ok' | 'degraded' | 'down' | 'off'> {
  if (!mailReady({ settings })) return 'off';
  const { faults, paused_until: until } = await readState(db);
  if (until && until > new Date()) return 'down';
  return faults > 0 ? 'degraded' : 'ok';
}
