import type { ProfileLimits } from '#identity/account-row.ts';
import { conflict } from '#kernel/errors.ts';
import { breaks, type Db } from '#platform/db.ts';
import type { Insert, Match, Update } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'profiles.limits': ProfileLimits;
    'profiles.preferences': Record<string, unknown>;
  }
}

/** Throws 409 `duplicate-name` for a name that another profile of the account has. */
export async function insertProfileRow(db: Db, row: Insert<'profiles'>): Promise<void> {
  await db('profiles').insert(row).catch(refuseDouble);
}

/** Changes columns of the matching profiles. Throws 409 `duplicate-name`. */
export async function updateProfile(db: Db, match: Match<'profiles'>, change: Update<'profiles'>): Promise<void> {
  await db('profiles').where(match).update(change).catch(refuseDouble);
}

/** Deletes a profile that was moved to the system account; rows that reference it are deleted by cascade. */
export async function removeProfileRow(db: Db, id: string): Promise<void> {
  const deleted = db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where({ 'a.is_system': true, 'p.id': id, 'p.main': false });
  await db('profiles').whereIn('id', deleted.select('p.id')).delete();
}

/** Clears `labels_lost` on the profiles of these accounts, profiles and roles, because their access was set. */
export async function settleLostLabels(
  db: Db,
  named: { accountIds: readonly string[]; profileIds: readonly string[]; roles: readonly string[] },
): Promise<void> {
  await db.raw(
    `update profiles p set labels_lost = false from accounts a where a.id = p.account_id and p.labels_lost
       and (a.id = any(?::uuid[]) or p.id = any(?::uuid[]) or a.role = any(?::text[]))`,
    [[...named.accountIds], [...named.profileIds], [...named.roles]],
  );
}

/** Sets `labels_lost` on profiles whose last only-label is this one: they see no items until their access is set. */
export async function markLostLabels(db: Db, label: number): Promise<void> {
  await db.raw('update profiles set labels_lost = true where only_labels = ?::int[]', [[label]]);
}

/** Counts a wrong PIN; after `most` within 15 minutes the PIN is blocked for `blockedSec`. */
export async function countWrongPin(
  db: Db,
  id: string,
  { most, blockedSec }: { most: number; blockedSec: number },
): Promise<{ left: number; blocked_s: number | null } | undefined> {
  const found = await db.raw<{ rows: { left: number; blocked_s: number | null }[] }>(
    `with recent as (
       select id, array(select at from unnest(pin_wrong) at where at > now() - interval '15 minutes') as wrong,
         pin_blocked_until > now() as blocked
       from profiles where id = ? for update
     ) update profiles p set
         pin_wrong = case when r.blocked then p.pin_wrong else r.wrong || now() end,
         pin_blocked_until = case when r.blocked then p.pin_blocked_until
           when cardinality(r.wrong) + 1 >= ? then now() + make_interval(secs => ?) end
       from recent r where p.id = r.id
       returning ? - cardinality(r.wrong) - 1 as left,
         case when r.blocked then greatest(1, ceil(extract(epoch from p.pin_blocked_until - now())))::int end as blocked_s`,
    [id, most, blockedSec, most],
  );
  return found.rows[0];
}

function refuseDouble(error: unknown): never {
  if (breaks(error, 'profiles_name')) throw conflict('duplicate-name', 'Another profile has this name');
  throw error;
}
