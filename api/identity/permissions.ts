import { z } from 'zod';

/** The eleven permissions, which are also the scopes of API keys. */
export const permissions = [
  'library:view',
  'library:manage',
  'item:edit',
  'user:manage',
  'settings:manage',
  'scan:trigger',
  'session:manage',
  'job:manage',
  'download:own',
  'playlist:own',
  'photo:upload',
] as const;

export const Permission = z.enum(permissions).meta({ id: 'Permission' });
export type Permission = z.output<typeof Permission>;

export const roles = ['owner', 'admin', 'member', 'child', 'guest'] as const;
export const Role = z.enum(roles).meta({ id: 'Role' });
export type Role = z.output<typeof Role>;

const VIEWER: readonly Permission[] = ['library:view'];
const CHILD: readonly Permission[] = [...VIEWER, 'playlist:own'];
const MEMBER: readonly Permission[] = [...CHILD, 'download:own', 'photo:upload'];

/** Permissions of a role before any are granted or withheld. */
export const rolePermissions: Record<Role, readonly Permission[]> = {
  owner: permissions,
  admin: permissions,
  member: MEMBER,
  child: CHILD,
  guest: VIEWER,
};

/** Permissions that a profile other than the main one can have. */
export const profilePermissions: readonly Permission[] = MEMBER;

const ADMINS: readonly Permission[] = permissions.filter((permission) => !MEMBER.includes(permission));

/** Permissions that cannot be granted to an account of the role. */
export function neverOf(role: Role): readonly Permission[] {
  if (role === 'child') return ADMINS;
  return role === 'guest' ? [...ADMINS, 'download:own', 'photo:upload'] : [];
}

/** Permissions of the role with those granted (true) and withheld (false) on the account. */
export function effectivePermissions(role: Role, own: Partial<Record<Permission, boolean>>): Set<Permission> {
  return new Set(permissions.filter((p) => own[p] ?? rolePermissions[role].includes(p)));
}
