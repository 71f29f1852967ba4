// What a library that goes leaves: recordings whose file would be there.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { markStale } from '../schedule/schedule.store.ts';
import { OPEN_STATES } from './recordings.store.ts';

export interface Leftover {
  id: string;
  /** A recorder still writes its parts, and removes them itself then. */
  held: boolean;
}

/** Cancels the recordings for a library. Returns those whose parts may be stored. */
export async function endForLibrary(db: Db, libraryId: string): Promise<Leftover[]> {
  const cancelled = await db('recordings')
    .where({ library_id: libraryId })
    .whereIn('state', [...OPEN_STATES])
    .update({ state: 'cancelled', stop_at: db.fn.now(), updated_at: db.fn.now() });
  if (cancelled > 0) await markStale(db);
  return rowsOf<Leftover>(
    db,
    `select id, coalesce(lease_until > now(), false) as held from recordings where library_id = ? and cleared_at is null`,
    [libraryId],
  );
}
