import type { Db } from './db.ts';

/** Degraded while some of what was sealed opens by no key of the ring; which, the notification to admins says. */
export async function sealedHealth(db: Db): Promise<'ok' | 'degraded'> {
  const row = await db('server_state').first<{ sealed_lost: string[] } | undefined>('sealed_lost');
  return row && row.sealed_lost.length > 0 ? 'degraded' : 'ok';
}
