import type { Db } from '#platform/db.ts';
import { FREE, OPEN, type SessionState } from './sessions.store.ts';

/** Records a wanted segment, so that a worker finds it without Redis. Returns whether the session must be offered. */
export async function wantSegment(
  db: Db,
  { id, rendition, segment }: { id: string; rendition: string; segment: number },
): Promise<{ offer: boolean; state: SessionState } | undefined> {
  const [row] = await db('transcode_sessions')
    .update({
      wanted_rendition: rendition,
      ...(segment >= 0 && { wanted_segment: segment }), // a worker makes the header wherever it starts
      wanted_at: db.fn.now(),
      last_access_at: db.fn.now(),
      state: db.raw(`case when state = 'idle' and ${FREE} then 'starting' else state end`),
    })
    .where({ id })
    .whereIn('state', OPEN)
    .returning<{ state: SessionState; held: boolean }[]>([
      'state',
      db.raw('coalesce(lease_until > now(), false) as held'),
    ] as never[]);
  return row && { offer: !row.held, state: row.state };
}

/**
 * Records a read segment, at intervals: segments far behind it may be deleted, and the next worker starts there. Keeps
 * a segment for which a request may still wait.
 */
export async function noteRead(
  db: Db,
  id: string,
  { rendition, segment }: { rendition: string; segment: number },
): Promise<void> {
  await db('transcode_sessions')
    .update({ wanted_rendition: rendition, wanted_segment: segment })
    .where({ id })
    .whereIn('state', OPEN)
    .whereRaw(`abs(wanted_segment - ?) >= 3 and wanted_at < now() - interval '30 seconds'`, [segment]);
}

/** Withdraws the last want if it is this one. A session that waits for a worker only for it stops waiting. */
export async function withdrawWant(
  db: Db,
  { id, rendition, segment }: { id: string; rendition: string; segment: number },
): Promise<void> {
  await db('transcode_sessions')
    .update({
      wanted_rendition: null,
      state: db.raw(`case when ${FREE} then 'idle' else state end`),
    })
    .where({ id, wanted_rendition: rendition, ...(segment >= 0 && { wanted_segment: segment }) })
    .whereIn('state', OPEN);
}
