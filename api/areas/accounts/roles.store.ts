import type { Role } from '#identity/permissions.ts';
import { CHILD_AGE } from './accounts.store.ts';

/** Columns that a new role changes: granted and withheld permissions are reset, and a child gets an age limit. */
export function roleColumns(account: { age_limit: number | null }, role: Role): Record<string, unknown> {
  const ageLimit = role === 'child' && account.age_limit === null ? { age_limit: CHILD_AGE } : {};
  return { role, own_permissions: '{}', ...ageLimit };
}
