import { type Role, rolePermissions } from '#kernel/permissions.ts';
import type { Db } from '#platform/db.ts';
import { CHILD_AGE } from './accounts.store.ts';

/** The columns that a new role changes: single permissions are relative to the old one, and a child has an age limit. */
export function roleColumns(account: { age_limit: number | null }, role: Role): Record<string, unknown> {
  const ageLimit = role === 'child' && account.age_limit === null ? { age_limit: CHILD_AGE } : {};
  return { role, own_permissions: '{}', ...ageLimit };
}

/** Keys keep what the new role has; those of children and guests end. */
export async function narrowKeys(db: Db, accountId: string, role: Role): Promise<void> {
  const keys = () => db('api_keys').where({ account_id: accountId }).whereNull('revoked_at');
  const allowed = role === 'child' || role === 'guest' ? [] : [...rolePermissions[role]];
  await keys().whereRaw('not scopes && ?::text[]', [allowed]).update({ revoked_at: db.fn.now() });
  await keys()
    .whereRaw('not scopes <@ ?::text[]', [allowed])
    .update({ scopes: db.raw('array(select s from unnest(scopes) s where s = any(?::text[]))', [allowed]) });
}
