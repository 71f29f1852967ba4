import { emitReached, foldUsername, librariesReached, nameTaken, roleColumns } from '#areas/accounts/public.ts';
import { narrowKeys } from '#areas/api-keys/public.ts';
import { endAccess, endMailedResets } from '#areas/auth/public.ts';
import { type Role, rolePermissions } from '#identity/permissions.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { refuseFurtherReach } from './access.ts';
import { refusePast } from './create-user.ts';
import { requireGivable, requireRank } from './rank.ts';
import type { UserChange } from './users.schemas.ts';
import { type UserRow, updateUserRow } from './users.store.ts';

/** Changes an account. Throws 403 and 409 for changes that the caller may not make. */
export async function changeUser(call: Call, row: UserRow, change: UserChange): Promise<void> {
  const { db } = call;
  refuseStale(call, row, change.revision);
  if (row.id === call.who.accountId) refuseOwn(call, change);
  else requireRank(call.who, row.role);
  refuseManaged(row, change);
  refusePast(call, change.expiresAt);
  const before = await librariesReached(db, row.id);
  const role = change.role === row.role ? undefined : change.role;
  if (role) requireRoleChange(call, row.role, role);
  const columns = { ...columnsOf(row, change), ...(role && roleColumns(row, role)) };
  try {
    await updateUserRow(db, row.id, columns);
  } catch (error) {
    throw nameTaken(error);
  }
  if (role) await narrowKeys(call, row.id, role);
  if (change.email !== undefined && !sameAddress(row, change.email)) await endMailedResets(db, row.id);
  if (change.disabled) await endAccess(db, row.id);
  await refuseFurtherReach(call, row.id, before);
  await emitReached(call, row.id, before);
  const { revision: _seen, ...after } = change;
  await audit(call, 'user.changed', { userId: row.id, before: oldValues(row, after), after });
}

/** 409 for another revision than the current one, from If-Match or the body. */
export function refuseStale({ headers }: Call, row: UserRow, revision: number | undefined): void {
  const match = headers['if-match'];
  const stale = match !== undefined && match !== '*' && match !== `"${row.revision}"`;
  if (!stale && (revision === undefined || revision === row.revision)) return;
  throw conflict('revision', 'It was changed in between', { revision: row.revision });
}

/** 403 for changing the own role, expiry or disabled state; own name and address need a confirmed session, like in updateMe. */
function refuseOwn({ who, now }: Call, { role, disabled, expiresAt, username, email }: UserChange): void {
  if (role !== undefined || disabled !== undefined || expiresAt !== undefined)
    throw new ApiError('FORBIDDEN', 'You cannot change this on your own account', { by: 'self' });
  if (username !== undefined || email !== undefined) requireConfirmed(who, now);
}

/** 409 for fields of the owner that a resource declares. */
function refuseManaged({ managed_by: managedBy }: UserRow, { username }: UserChange): void {
  if (!managedBy || username === undefined) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields: ['username'], managedBy });
}

function requireRoleChange(call: Call, from: Role, to: Role): void {
  requireRank(call.who, to);
  requireGivable(call, rolePermissions[to]);
  if (from === 'admin' || to === 'admin') requireConfirmed(call.who, call.now);
}

function columnsOf(row: UserRow, change: UserChange): Record<string, unknown> {
  const { username, email } = change;
  const columns = {
    username,
    username_folded: username === undefined ? undefined : foldUsername(username),
    display_name: change.displayName,
    disabled: change.disabled,
    email,
    email_verified: email === undefined || sameAddress(row, email) ? undefined : false,
    expires_at: change.expiresAt,
    language: change.language,
    time_zone: change.timeZone,
    note: change.note,
    listed: change.listed,
    discoverable: change.discoverable,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function sameAddress({ email: before }: UserRow, email: string | null): boolean {
  return email?.toLowerCase() === before?.toLowerCase();
}

const OLD: Record<keyof Omit<UserChange, 'revision'>, (row: UserRow) => unknown> = {
  username: (row) => row.username,
  displayName: (row) => row.display_name,
  role: (row) => row.role,
  disabled: (row) => row.disabled,
  email: (row) => row.email,
  expiresAt: (row) => row.expires_at,
  language: (row) => row.language,
  timeZone: (row) => row.time_zone,
  note: (row) => row.note,
  listed: (row) => row.listed,
  discoverable: (row) => row.discoverable,
};

function oldValues(row: UserRow, changed: object): Record<string, unknown> {
  const names = Object.keys(changed) as (keyof typeof OLD)[];
  return Object.fromEntries(names.map((name) => [name, OLD[name](row)]));
}
