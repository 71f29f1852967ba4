import type { Db } from '#platform/db.ts';

/** Condition that account `a` reaches library `l`: by its role, by the access of the library or by an access row. */
export const reachSql = `(a.library_mode = 'default' and (a.role in ('owner', 'admin') or l.everyone or a.role = any(l.access_roles))
  or exists (select 1 from library_access g where g.library_id = l.id and g.account_id = a.id))`;

/** Accounts that reach the library, without the system account and deleted ones. */
export async function accountsReaching(db: Db, libraryId: string): Promise<Set<string>> {
  const found = await db.raw<{ rows: { id: string }[] }>(
    `select a.id from accounts a join libraries l on l.id = ? and l.deleted_at is null
     where not a.is_system and a.deleted_at is null and ${reachSql}`,
    [libraryId],
  );
  return new Set(found.rows.map((row) => row.id));
}

export async function librariesReached(db: Db, accountId: string): Promise<Set<string>> {
  const found = await db.raw<{ rows: { id: string }[] }>(
    `select l.id from libraries l join accounts a on a.id = ? where l.deleted_at is null and ${reachSql} order by l.id`,
    [accountId],
  );
  return new Set(found.rows.map((row) => row.id));
}
