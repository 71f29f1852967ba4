import { type AccountAccess, AccountLimits, toAccount } from '#areas/accounts/public.ts';
import { listProfiles } from '#areas/auth/public.ts';
import { effectivePermissions, type Permission, permissions, type Role } from '#identity/permissions.ts';
import { may, type Principal } from '#identity/principal.ts';
import { effectiveRestrictions } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { grantable, ofRole, outranks } from './rank.ts';
import type { ListedUser, PermissionRow, User, UserDetail } from './users.schemas.ts';
import type { UserRow } from './users.store.ts';

export function toUser(row: UserRow, who: Principal): User {
  const { expires_at: expiresAt, invited_by: inviter, inviter_name: inviterName } = row;
  return {
    ...toAccount(row),
    state: row.state,
    ...(expiresAt && { expiresAt: iso(expiresAt) }),
    hasPassword: row.has_password,
    twoFactor: row.factors.includes('totp') || row.factors.includes('passkey'),
    oidc: row.factors.includes('oidc'),
    profiles: row.profiles,
    devices: row.devices,
    activeSessions: row.active_sessions,
    streamsNow: row.streams_now,
    storageBytes: row.storage_bytes,
    ...(inviter && inviterName !== null && { invitedBy: { userId: inviter, displayName: inviterName } }),
    ...(row.managed_by && { managedBy: row.managed_by }),
    ...(row.note !== null && (who.role === 'owner' || who.role === 'admin') && { note: row.note }),
    listed: row.listed,
    discoverable: row.discoverable,
    updatedAt: iso(row.updated_at),
    revision: row.revision,
  };
}

export function toListedUser(row: UserRow, who: Principal, include: readonly string[]): ListedUser {
  return {
    ...toUser(row, who),
    ...(include.includes('access') && { access: toAccess(row) }),
    ...(include.includes('permissions') && { permissions: toPermissionRow(row, who) }),
  };
}

export async function toUserDetail({ db, who }: Call, row: UserRow): Promise<UserDetail> {
  const { email: address, ...user } = toUser(row, who);
  return {
    ...user,
    access: toAccess(row),
    permissions: toPermissionRow(row, who),
    ...(address !== null && { email: { address, verified: row.email_verified } }),
    ...(row.language !== null && { language: row.language }),
    ...(row.time_zone !== null && { timeZone: row.time_zone }),
    profileList: await listProfiles(db, row.id, { limits: true }),
    ...(row.last_sign_in && { lastSignIn: toLastSignIn(row.last_sign_in) }),
  };
}

function toLastSignIn({ at, method, address, device }: NonNullable<UserRow['last_sign_in']>): UserDetail['lastSignIn'] {
  return { at: iso(new Date(at)), method, ...(address !== null && { address }), ...(device !== null && { device }) };
}

export function toAccess(row: UserRow): AccountAccess {
  return {
    libraries: { mode: row.library_mode, ids: row.library_ids },
    ...(row.age_limit !== null && { ageLimit: row.age_limit }),
    hideUnrated: row.hide_unrated,
    viewingHours: row.viewing_hours,
    ...(row.hours_zone !== null && { timeZone: row.hours_zone }),
    limits: AccountLimits.parse(row.limits),
    restrictions: effectiveRestrictions(row.role, row.restrictions),
  };
}

type Cells = Pick<UserRow, 'id' | 'display_name' | 'role' | 'own_permissions'>;

export function toPermissionRow(row: Cells, who: Principal): PermissionRow {
  const held = effectivePermissions(row.role, row.own_permissions);
  const cells = permissions.map((name) => {
    const own = row.own_permissions[name];
    const set = own === undefined || own === ofRole(row.role, name) ? 'role' : own ? 'granted' : 'withheld';
    return [name, { allowed: held.has(name), source: set, changeable: isChangeable(who, row.role, name) }];
  });
  return {
    userId: row.id,
    displayName: row.display_name,
    role: row.role,
    permissions: Object.fromEntries(cells) as PermissionRow['permissions'],
  };
}

/** Permissions that only the owner can grant. */
export const OWNERS_TO_GIVE: readonly Permission[] = ['user:manage', 'settings:manage'];

function isChangeable(who: Principal, role: Role, name: Permission): boolean {
  if (name === 'library:view' || !grantable(role, name) || !outranks(who, role)) return false;
  return may(who, name) && (who.role === 'owner' || role === 'admin' || !OWNERS_TO_GIVE.includes(name));
}
