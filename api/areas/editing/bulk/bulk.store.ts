import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Change } from './step.ts';

/** A bulk change that runs as a job. */
export interface KeptChange {
  accountId: string;
  change: Change;
  total: number;
}

/** Keeps a change with the ids that matched at the start, for the job. Returns its id. */
export async function keepChange(
  db: Db,
  { accountId, change, ids }: { accountId: string; change: Change; ids: readonly string[] },
): Promise<string> {
  const id = newId();
  await db('bulk_changes').insert({
    ...{ id, account_id: accountId, change: JSON.stringify(change), item_ids: [...ids] },
  });
  return id;
}

/** The change without its ids; undefined when the job has ended. */
export async function findChange(db: Db, id: string): Promise<KeptChange | undefined> {
  const row = await db('bulk_changes')
    .where({ id })
    .first<{ account_id: string; change: Change; total: number } | undefined>(
      'account_id',
      'change',
      db.raw('cardinality(item_ids) as total'),
    );
  return row && { accountId: row.account_id, change: row.change, total: row.total };
}

/** A slice of the ids of a change. */
export async function sliceOf(db: Db, id: string, { from, most }: { from: number; most: number }): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { ids: string[] }[] }>(
    `select array(select u.id from unnest(item_ids) with ordinality u(id, at) where u.at > ? and u.at <= ? order by u.at) as ids
     from bulk_changes where id = ?`,
    [from, from + most, id],
  );
  return rows[0]?.ids ?? [];
}

/** Forgets a change whose job has ended. */
export async function dropChange(db: Db, id: string): Promise<void> {
  await db('bulk_changes').where({ id }).delete();
}
