import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { SignInMethod } from './methods.schemas.ts';

export type MethodRow = Row<'sign_in_methods'>;

/** Sign-in methods other than the password, oldest first. */
export async function listMethodRows(db: Db, accountId: string): Promise<MethodRow[]> {
  return db('sign_in_methods').where({ account_id: accountId }).orderBy(['created_at', 'id']).select('*');
}

/** The authenticator app or the set of recovery codes of an account; it has at most one of each. */
export async function findMethod(
  db: Db,
  accountId: string,
  kind: 'totp' | 'recovery-codes',
): Promise<MethodRow | undefined> {
  return db('sign_in_methods').where({ account_id: accountId, kind }).first();
}

export async function countRecoveryCodes(db: Db, accountId: string): Promise<number> {
  const [row] = await db('recovery_codes as c')
    .join('sign_in_methods as m', 'm.id', 'c.method_id')
    .where('m.account_id', accountId)
    .whereNull('c.used_at')
    .select(db.raw('count(*)::int as left'));
  return row?.left ?? 0;
}

export interface PasswordRow
  extends Pick<Row<'accounts'>, 'id' | 'role' | 'password_hash' | 'created_at' | 'password_changed_at'> {
  has_password: boolean;
}

export async function passwordRow(db: Db, accountId: string): Promise<PasswordRow> {
  return db('accounts')
    .where({ id: accountId })
    .first(
      'id',
      'role',
      'password_hash',
      'created_at',
      'password_changed_at',
      db.raw('password_hash is not null as has_password'),
    );
}

/** The password as a method; its id is the id of the account. */
export function passwordMethod(row: PasswordRow): SignInMethod {
  const createdAt = iso(row.password_changed_at ?? row.created_at);
  return { id: row.id, kind: 'password', name: null, createdAt, lastUsedAt: null };
}

export function toMethod(row: MethodRow, codesLeft: number): SignInMethod {
  const { id, kind, name } = row;
  const passkey = { synced: row.synced ?? false, transports: row.transports ?? [], aaguid: row.aaguid ?? '' };
  return {
    id,
    kind,
    name,
    createdAt: iso(row.created_at),
    lastUsedAt: iso(row.last_used_at),
    ...(kind === 'passkey' ? { passkey } : {}),
    ...(kind === 'oidc' ? { oidc: { issuer: row.issuer ?? '', label: row.name ?? row.issuer ?? '' } } : {}),
    ...(kind === 'recovery-codes' ? { recoveryCodesLeft: codesLeft } : {}),
  };
}

/** Removes sign-in methods: all, or those of these kinds. */
export async function removeMethods(db: Db, accountId: string, kinds?: readonly MethodRow['kind'][]): Promise<void> {
  const methods = db('sign_in_methods').where({ account_id: accountId });
  await (kinds ? methods.whereIn('kind', kinds) : methods).delete();
}
