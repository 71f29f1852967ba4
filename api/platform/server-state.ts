import type { Db } from './db.ts';
import type { Insert, Match, Update } from './typed-query.ts';

/** Updates the single row about this server; returns 0 if the condition does not match. */
export async function updateServerState(
  db: Db,
  change: Update<'server_state'>,
  match: Match<'server_state'> = {},
): Promise<number> {
  return db('server_state').where(match).update(change);
}

/** Creates the row at the first start; later starts update the claim code and the version. */
export async function putServerState(db: Db, row: Insert<'server_state'>): Promise<void> {
  await db('server_state').insert(row).onConflict('one').merge(['claim_sha256', 'version']);
}
