import type { Db } from './db.ts';
import type { Insert, Match, Update } from './typed-query.ts';

/** Changes columns of the one row about this server; answers 0 where it does not match. */
export async function updateServerState(
  db: Db,
  change: Update<'server_state'>,
  match: Match<'server_state'> = {},
): Promise<number> {
  return db('server_state').where(match).update(change);
}

/** Makes the row at the first start; later starts take over the claim code and the version. */
export async function putServerState(db: Db, row: Insert<'server_state'>): Promise<void> {
  await db('server_state').insert(row).onConflict('one').merge(['claim_sha256', 'version']);
}
