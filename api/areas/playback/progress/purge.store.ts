import type { Db } from '#platform/db.ts';

const BATCH = 5000;

/** Deletes watch states of a deleted account in batches; false when none is left. */
export async function purgeStatesOfAccount(db: Db, accountId: string): Promise<boolean> {
  const found = await db.raw<{ rowCount: number }>(
    `delete from item_states where ctid = any(array(select s.ctid from item_states s join profiles p on p.id = s.profile_id
       where p.account_id = ? limit ?))`,
    [accountId, BATCH],
  );
  return found.rowCount > 0;
}

/** Deletes watch states of a deleted profile, held by the system account, in batches; false when none is left. */
export async function purgeStatesOfProfile(db: Db, profileId: string): Promise<boolean> {
  const found = await db.raw<{ rowCount: number }>(
    `delete from item_states where ctid = any(array(select s.ctid from item_states s where s.profile_id = ?
       and exists (select from profiles p join accounts a on a.id = p.account_id where p.id = s.profile_id and a.is_system)
       limit ?))`,
    [profileId, BATCH],
  );
  return found.rowCount > 0;
}

/** Restores watch states of a tombstone from a JSON array of rows; newer states win. */
export async function restoreStates(db: Db, states: string): Promise<void> {
  await db.raw(
    'insert into item_states select * from jsonb_populate_recordset(null::item_states, ?::jsonb) on conflict do nothing',
    [states],
  );
}
