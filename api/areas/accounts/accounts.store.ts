import type { Permission, Role } from '#identity/permissions.ts';
import type { AccountLimits } from '#identity/principal.ts';
import type { Restrictions } from '#identity/restrictions.ts';
import type { ViewingWindow } from '#identity/viewing-hours.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import { imageRefSql } from '#kernel/images.ts';
import { type Account, iso } from '#kernel/schemas.ts';
import type { ManagedBy } from '#platform/config.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import type { Match, Row, Update } from '#platform/typed-query.ts';
import { foldUsername } from './names.ts';
import { insertProfileRow } from './profiles.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'accounts.own_permissions': Partial<Record<Permission, boolean>>;
    'accounts.viewing_hours': ViewingWindow[];
    'accounts.limits': AccountLimits;
    'accounts.restrictions': Partial<Restrictions>;
    'accounts.last_sign_in': { at: string; method: string; address: string | null; device: string | null };
  }
}

export interface AccountDraft {
  username: string;
  displayName?: string | undefined;
  role: Role;
  email?: string | undefined;
  emailVerified?: boolean;
  passwordHash: string | null;
  mustChangePassword?: boolean;
  ageLimit?: number | null;
  permissions?: Partial<Record<Permission, boolean>>;
  expiresAt?: string | undefined;
  language?: string | undefined;
  note?: string | undefined;
  system?: true;
  managedBy?: ManagedBy | undefined;
  invitedBy?: string;
  inviteId?: string;
}

interface AccountRow extends Pick<Row<'accounts'>, (typeof COLUMNS)[number]> {
  avatar: Account['avatar'];
}

const COLUMNS = ['id', 'username', 'display_name', 'role', 'email', 'created_at', 'last_seen_at', 'disabled'] as const;

export const CHILD_AGE = 12;

/** Inserts the account and its main profile, without an event. Throws 409 `username-taken` and `email-taken`. */
export async function insertAccount(db: Db, draft: AccountDraft): Promise<Account> {
  const row = rowOf(draft);
  try {
    await db('accounts').insert(row);
  } catch (error) {
    throw nameTaken(error);
  }
  await insertProfileRow(db, { id: newId(), account_id: row.id, name: row.display_name, main: true });
  return getAccount(db, row.id);
}

function rowOf(draft: AccountDraft) {
  const { emailVerified = false, mustChangePassword = false, permissions = {}, ageLimit } = draft;
  return {
    id: newId(),
    username: draft.username,
    username_folded: foldUsername(draft.username),
    display_name: draft.displayName ?? draft.username,
    role: draft.role,
    email: draft.email,
    email_verified: emailVerified,
    password_hash: draft.passwordHash,
    must_change_password: mustChangePassword,
    age_limit: draft.role === 'child' && ageLimit === undefined ? CHILD_AGE : ageLimit,
    own_permissions: JSON.stringify(permissions),
    expires_at: draft.expiresAt === undefined ? undefined : new Date(draft.expiresAt),
    language: draft.language,
    note: draft.note,
    is_system: draft.system ?? false,
    managed_by: draft.managedBy && JSON.stringify(draft.managedBy),
    invited_by: draft.invitedBy,
    invite_id: draft.inviteId,
  };
}

/** The 409 for a violated unique index of usernames or addresses; any other error unchanged. */
export function nameTaken(error: unknown): unknown {
  if (breaks(error, 'accounts_username_folded_key')) return conflict('username-taken', 'This name is taken');
  if (breaks(error, 'accounts_email')) return conflict('email-taken', 'This address is taken');
  return error;
}

/** `insertAccount`, and emits `user.created`. */
export async function createAccount(db: Db, draft: AccountDraft): Promise<Account> {
  const account = await insertAccount(db, draft);
  await emit(db, 'user.created', { payload: { userId: account.id, role: account.role } });
  return account;
}

export async function getAccount(db: Db, id: string): Promise<Account> {
  const row = await db('accounts')
    .where({ id })
    .first<AccountRow>([...COLUMNS, db.raw(`${imageRefSql('accounts.avatar_id')} as avatar`)]);
  return toAccount(row);
}

export async function displayNameOf(db: Db, id: string): Promise<string> {
  const row = await db('accounts').where({ id }).first('display_name');
  if (!row) throw notFound();
  return row.display_name;
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    username: row.username,
    displayName: row.display_name,
    role: row.role,
    email: row.email,
    avatar: row.avatar,
    createdAt: iso(row.created_at),
    lastSeenAt: iso(row.last_seen_at),
    disabled: row.disabled,
  };
}

/** Changes columns of the matching accounts and returns their number. */
export async function updateAccount(db: Db, match: Match<'accounts'>, change: Update<'accounts'>): Promise<number> {
  return db('accounts').where(match).update(change);
}

/** Deletes the row of an account that is marked as deleted; rows that reference it are deleted by cascade. */
export async function deleteAccountRow(db: Db, id: string): Promise<void> {
  await db('accounts').where({ id }).whereNotNull('deleted_at').delete();
}

/** Removes an address from every other account, after one account has verified it. */
export async function releaseAddress(db: Db, address: string, exceptId: string): Promise<void> {
  await db('accounts')
    .whereRaw('lower(email) = ?', [address.toLowerCase()])
    .whereNot({ id: exceptId })
    .update({ email: null });
}
