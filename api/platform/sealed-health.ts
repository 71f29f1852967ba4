import type { Db } from './db.ts';

declare module './column-types.ts' {
  interface ColumnTypes {
    'server_state.sealed_lost': string[];
  }
}

/** Degraded while no key of the ring opens some sealed values; the notification to admins names them. */
export async function sealedHealth(db: Db): Promise<'ok' | 'degraded'> {
  const row = await db('server_state').first('sealed_lost');
  return row && row.sealed_lost.length > 0 ? 'degraded' : 'ok';
}
