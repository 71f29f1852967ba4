// How often in a row workers could not open the file of a session.
import type { Db } from '#platform/db.ts';

/** Counts one more worker that could not. */
export async function countUnopened(db: Db, id: string): Promise<void> {
  await db('transcode_sessions').where({ id }).increment('unopened', 1);
}

/** A worker could, or the API cannot either: then it is an outage of the storage, which a session outlasts. */
export async function forgetUnopened(db: Db, id: string): Promise<void> {
  await db('transcode_sessions').where({ id }).where('unopened', '>', 0).update({ unopened: 0 });
}
