import { type Permission, permissions, type Role, rolePermissions } from '#identity/permissions.ts';
import { requireConfirmed } from '#identity/person.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { grantable, ofRole, requireGivable } from './rank.ts';
import type { RequestedPermissions } from './users.schemas.ts';
import { OWNERS_TO_GIVE } from './users.view.ts';

interface Subject {
  role: Role;
  /** What it has beside the role's already: that is not given anew. */
  own_permissions?: RequestedPermissions;
}

/**
 * What an account gets beside the role's permissions, no more than that kept. Throws 403 for what the caller lacks or
 * only the owner gives, 409 `not-for-role` and `needed`.
 */
export function checkedWishes(call: Call, subject: Subject, wishes: RequestedPermissions): RequestedPermissions {
  const { role, own_permissions: before } = subject;
  const own = permissions.filter((name) => wishes[name] !== undefined && wishes[name] !== ofRole(role, name));
  const granted = own.filter((name) => wishes[name] && before?.[name] !== true);
  const anew = rolePermissions[role].filter((name) => wishes[name] !== false && (!before || before[name] === false));
  if (wishes['library:view'] === false)
    throw conflict('needed', 'Every account needs library:view; disable it instead', { permission: 'library:view' });
  const never = own.find((name) => wishes[name] && !grantable(role, name));
  if (never) throw conflict('not-for-role', 'An account of this role can never have it', { permission: never });
  requireGivable(call, [...anew, ...granted]);
  refuseOwners(call, granted);
  return Object.fromEntries(own.map((name) => [name, wishes[name]]));
}

/** Managing accounts and settings is given by the owner, confirmed. */
function refuseOwners({ who, now }: Call, granted: readonly Permission[]): void {
  const owners = granted.find((name) => OWNERS_TO_GIVE.includes(name));
  if (!owners) return;
  if (who.role !== 'owner')
    throw new ApiError('FORBIDDEN', 'Only the owner gives this', { by: 'owner', permission: owners });
  requireConfirmed(who, now);
}
