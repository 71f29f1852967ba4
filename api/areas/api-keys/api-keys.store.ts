import { createHash } from 'node:crypto';
import { effectivePermissions, type Permission, profilePermissions, type Role } from '#identity/permissions.ts';
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId, newSecret } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { ApiKey, KeyState } from './api-keys.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'api_keys.scopes': Permission[];
    'api_keys.created_from': { deviceName?: string | null; address?: string | null };
  }
}

const TABLE = 'api_keys as k';

export const MOST_ACTIVE = 50;

export interface ApiKeyRow extends Row<'api_keys'> {
  requests_today: number;
  state: KeyState;
  display_name: string;
  role: Role;
  own_permissions: Partial<Record<Permission, boolean>>;
}

const STATE = `case when k.revoked_at is not null then 'revoked' when k.expires_at <= now() then 'expired' else 'active' end`;

/** Keys joined with their account, including those that ended in the last 30 days. */
export function selectKeys(db: Db, wanted: { accountId?: string | undefined; state?: KeyState | undefined }) {
  return db(TABLE)
    .join('accounts as a', 'a.id', 'k.account_id')
    .whereRaw(`coalesce(least(k.revoked_at, k.expires_at) > now() - interval '30 days', true)`)
    .modify((query) => {
      if (wanted.accountId) void query.where('k.account_id', wanted.accountId);
      if (wanted.state) void query.whereRaw(`${STATE} = ?`, [wanted.state]);
    })
    .select(
      'k.*',
      'a.display_name',
      'a.role',
      'a.own_permissions',
      db.raw(`${STATE} as state`),
      db.raw(`case when k.used_on = current_date then k.used_count else 0 end as requests_today`),
    );
}

export async function findKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  const rows: ApiKeyRow[] = await selectKeys(db, {}).where('k.id', id);
  return rows[0];
}

/** Throws 404. */
export async function getKey(db: Db, id: string): Promise<ApiKeyRow> {
  const row = await findKey(db, id);
  if (!row) throw notFound();
  return row;
}

export async function findOwnProfile(db: Db, accountId: string, id: string): Promise<{ main: boolean } | undefined> {
  return db('profiles').where({ id, account_id: accountId }).first('main');
}

/** The row, locked until the transaction ends. */
export async function lockKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  await db('api_keys').where({ id }).forUpdate().first('id');
  return findKey(db, id);
}

/** Counts under a lock on the account, so that concurrent requests cannot exceed the limit together. */
export async function countActive(db: Db, accountId: string): Promise<number> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 11))', [accountId]);
  const [row] = await db(TABLE)
    .where('k.account_id', accountId)
    .whereRaw(`${STATE} = 'active'`)
    .count<{ count: number }[]>('* as count');
  return row?.count ?? 0;
}

export interface NewKey {
  accountId: string;
  profileId: string | null;
  name: string;
  scopes: readonly Permission[];
  perMinute: number;
  expiresAt: string | null;
  from: { deviceName: string | null; address: string | null };
}

/** Returns the secret, of which only the hash is stored. */
export async function insertKey(db: Db, key: NewKey): Promise<{ id: string; secret: string }> {
  const secret = newSecret('foyer_');
  const id = newId();
  await db('api_keys').insert({
    id,
    account_id: key.accountId,
    profile_id: key.profileId,
    name: key.name,
    hash: createHash('sha256').update(secret).digest(),
    hint: secret.slice(0, 'foyer_'.length + 4),
    scopes: key.scopes,
    per_minute: key.perMinute,
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt),
    created_from: JSON.stringify(key.from),
  });
  return { id, secret };
}

export interface KeyChange {
  name?: string | undefined;
  scopes?: readonly Permission[] | undefined;
  expiresAt?: string | null | undefined;
  requestsPerMinute?: number | undefined;
}

export async function updateKey(db: Db, id: string, change: KeyChange): Promise<void> {
  const row = {
    name: change.name,
    scopes: change.scopes,
    expires_at: change.expiresAt,
    per_minute: change.requestsPerMinute,
  };
  const named = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
  if (Object.keys(named).length > 0) await db('api_keys').where({ id }).update(named);
}

/** False when the key was revoked before. */
export async function revokeKey(db: Db, id: string): Promise<boolean> {
  const count = await db('api_keys').where({ id }).whereNull('revoked_at').update({ revoked_at: db.fn.now() });
  return count > 0;
}

/** Job keys.expire: deletes keys that ended 30 days ago. */
export async function trimKeys(db: Db): Promise<number> {
  return db('api_keys')
    .where({ operator: false })
    .whereRaw(`least(revoked_at, expires_at) < now() - interval '30 days'`)
    .delete();
}

const time = (at: Date | null): string | null => at && at.toISOString();

export function toApiKey(row: ApiKeyRow): ApiKey {
  const account = effectivePermissions(row.role, row.own_permissions);
  const all = row.profile_id ? profilePermissions.filter((permission) => account.has(permission)) : [...account];
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    owner: { userId: row.account_id, displayName: row.display_name },
    ...(row.profile_id && { profileId: row.profile_id }),
    scopes: row.scopes,
    effectiveScopes: row.scopes.filter((scope) => all.includes(scope)),
    requestsPerMinute: row.per_minute,
    state: row.state,
    expiresAt: time(row.expires_at),
    createdAt: row.created_at.toISOString(),
    createdFrom: { deviceName: row.created_from.deviceName ?? null, address: row.created_from.address ?? null },
    lastUsedAt: time(row.last_used_at),
    lastAddress: row.last_address,
    lastClientName: row.last_client_name,
    requestsToday: row.requests_today,
    revokedAt: time(row.revoked_at),
    ...(row.managed_by && { managedBy: row.managed_by }),
  };
}

/** Deletes the keys of a deleted account. */
export async function deleteKeys(db: Db, accountId: string): Promise<void> {
  await db('api_keys').where({ account_id: accountId }).delete();
}
