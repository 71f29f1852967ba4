import { neverOf, type Permission, type Role, rolePermissions } from '#identity/permissions.ts';
import { may, type Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';

const RANKS: Record<Role, number> = { owner: 4, admin: 3, member: 2, child: 1, guest: 1 };

/** Whether the caller may manage an account of this role: those below its own. */
export const outranks = (who: Principal, role: Role): boolean => RANKS[who.role] > RANKS[role];

/** 403 with `by` rank unless the role is below that of the caller. */
export function requireRank(who: Principal, role: Role): void {
  if (!outranks(who, role)) throw new ApiError('FORBIDDEN', 'This account is not below yours', { by: 'rank' });
}

/** 403 with the first permission that the caller would give without having it. */
export function requireGivable({ who }: Call, given: readonly Permission[]): void {
  const lacking = given.find((permission) => !may(who, permission));
  if (lacking)
    throw new ApiError('FORBIDDEN', 'You cannot give a permission that you do not have', { permission: lacking });
}

/** Whether an account of the role can be granted the permission at all. */
export const grantable = (role: Role, permission: Permission): boolean => !neverOf(role).includes(permission);

export const ofRole = (role: Role, permission: Permission): boolean => rolePermissions[role].includes(permission);
