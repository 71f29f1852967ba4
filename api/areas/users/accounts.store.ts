import { conflict } from '#kernel/errors.ts';
import type { Role } from '#kernel/permissions.ts';
import { type Account, iso } from '#kernel/schemas.ts';
import type { ManagedBy } from '#platform/config.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

export interface AccountDraft {
  username: string;
  displayName?: string | undefined;
  role: Role;
  email?: string | undefined;
  passwordHash: string | null;
  ageLimit?: number;
  system?: true;
  managedBy?: ManagedBy | undefined;
}

interface AccountRow {
  id: string;
  username: string;
  display_name: string;
  role: Role;
  email: string | null;
  created_at: Date;
  last_seen_at: Date | null;
  disabled: boolean;
}

const COLUMNS = ['id', 'username', 'display_name', 'role', 'email', 'created_at', 'last_seen_at', 'disabled'] as const;

/** What two names are compared by: letter case and look-alike forms do not tell accounts apart. */
export function foldUsername(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase();
}

const CHILD_AGE = 12;

/** The account and its main profile. Throws 409 `username-taken`. */
export async function insertAccount(db: Db, draft: AccountDraft): Promise<Account> {
  const id = newId();
  const row = {
    id,
    username: draft.username,
    username_folded: foldUsername(draft.username),
    display_name: draft.displayName ?? draft.username,
    role: draft.role,
    email: draft.email,
    password_hash: draft.passwordHash,
    age_limit: draft.ageLimit ?? (draft.role === 'child' ? CHILD_AGE : null),
    is_system: draft.system ?? false,
    managed_by: draft.managedBy && JSON.stringify(draft.managedBy),
  };
  try {
    await db('accounts').insert(row);
  } catch (error) {
    if (breaks(error, 'accounts_username_folded_key')) throw conflict('username-taken', 'This name is taken');
    throw error;
  }
  await db('profiles').insert({ id: newId(), account_id: id, name: row.display_name, main: true });
  return getAccount(db, id);
}

export async function getAccount(db: Db, id: string): Promise<Account> {
  const row = await db('accounts').where({ id }).first<AccountRow>(COLUMNS);
  return toAccount(row);
}

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    username: row.username,
    displayName: row.display_name,
    role: row.role,
    email: row.email,
    avatar: null,
    createdAt: iso(row.created_at),
    lastSeenAt: iso(row.last_seen_at),
    disabled: row.disabled,
  };
}

/** Accounts that can reach the library by its own access or a granted row. */
export async function accountsReaching(db: Db, libraryId: string): Promise<Set<string>> {
  const rows = await db('accounts as a')
    .where('a.is_system', false)
    .whereExists((library) => {
      library.from('libraries as l').where('l.id', libraryId).whereNull('l.deleted_at');
      library.whereRaw(`(a.role in ('owner', 'admin') and a.library_mode = 'default'
        or a.library_mode = 'default' and (l.everyone or a.role = any(l.access_roles))
        or exists (select 1 from library_access g where g.library_id = l.id and g.account_id = a.id))`);
    })
    .select<{ id: string }[]>('a.id');
  return new Set(rows.map((row) => row.id));
}
