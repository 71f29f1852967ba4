import { type Permission, permissions, type Role, rolePermissions } from '#identity/permissions.ts';
import { requireConfirmed } from '#identity/person.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { grantable, ofRole, requireGivable } from './rank.ts';
import type { RequestedPermissions } from './users.schemas.ts';
import { OWNERS_TO_GIVE } from './users.view.ts';

interface Subject {
  role: Role;
  /** Its present differences from the role: keeping one is no grant. */
  own_permissions?: RequestedPermissions;
}

/**
 * The differences from the permissions of the role, to be stored for the account. Throws 403 for a permission that the caller
 * lacks or that only the owner may give, 409 `not-for-role` and `needed`.
 */
export function checkedPermissions(
  call: Call,
  subject: Subject,
  requested: RequestedPermissions,
): RequestedPermissions {
  const { role, own_permissions: before } = subject;
  const own = permissions.filter((name) => requested[name] !== undefined && requested[name] !== ofRole(role, name));
  const granted = own.filter((name) => requested[name] && before?.[name] !== true);
  const ofNewRole = rolePermissions[role].filter(
    (name) => requested[name] !== false && (!before || before[name] === false),
  );
  if (requested['library:view'] === false)
    throw conflict('needed', 'Every account needs library:view; disable it instead', { permission: 'library:view' });
  const never = own.find((name) => requested[name] && !grantable(role, name));
  if (never) throw conflict('not-for-role', 'An account of this role can never have it', { permission: never });
  requireGivable(call, [...ofNewRole, ...granted]);
  refuseOwners(call, granted);
  return Object.fromEntries(own.map((name) => [name, requested[name]]));
}

/** Only the owner, in a confirmed session, grants permission to manage accounts and settings. */
function refuseOwners({ who, now }: Call, granted: readonly Permission[]): void {
  const owners = granted.find((name) => OWNERS_TO_GIVE.includes(name));
  if (!owners) return;
  if (who.role !== 'owner')
    throw new ApiError('FORBIDDEN', 'Only the owner can grant this', { by: 'owner', permission: owners });
  requireConfirmed(who, now);
}
