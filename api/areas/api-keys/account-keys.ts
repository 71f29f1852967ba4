import { notify } from '#areas/notifications/public.ts';
import { type Permission, type Role, rolePermissions } from '#identity/permissions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Row } from '#platform/typed-query.ts';

/** API keys that change with their account. Each change is audited, and the holder is notified of changes by others. */
type Key = Pick<Row<'api_keys'>, 'id' | 'name' | 'scopes'>;

const activeKeys = ({ db }: Call, accountId: string) =>
  db('api_keys').where({ account_id: accountId }).whereNull('revoked_at');

/** Revokes all keys of the account and returns their number. */
export async function revokeKeys(call: Call, accountId: string): Promise<number> {
  const revoked = await revoke(call, accountId, () => true);
  await notifyHolder(call, accountId, revoked);
  return revoked.length;
}

/** Narrows keys to the scopes of the new role, and revokes keys of children, of guests and without a remaining scope. */
export async function narrowKeys(call: Call, accountId: string, role: Role): Promise<void> {
  const allowed: readonly Permission[] = role === 'child' || role === 'guest' ? [] : rolePermissions[role];
  const kept = ({ scopes }: Key): Permission[] => scopes.filter((scope) => allowed.includes(scope));
  const revoked = await revoke(call, accountId, (key) => kept(key).length === 0);
  const wide = (await keysOf(call, accountId)).filter((key) => kept(key).length < key.scopes.length);
  for (const key of wide) {
    await call
      .db('api_keys')
      .where({ id: key.id })
      .update({ scopes: kept(key) });
    await audit(call, 'api-key.changed', { keyId: key.id, before: key.scopes, after: kept(key) });
  }
  await notifyHolder(call, accountId, [...revoked, ...wide]);
}

async function keysOf(call: Call, accountId: string): Promise<Key[]> {
  return activeKeys(call, accountId).orderBy('id').forUpdate().select('id', 'name', 'scopes');
}

async function revoke(call: Call, accountId: string, ends: (key: Key) => boolean): Promise<Key[]> {
  const ended = (await keysOf(call, accountId)).filter(ends);
  const ids = ended.map(({ id }) => id);
  await activeKeys(call, accountId).whereIn('id', ids).update({ revoked_at: call.db.fn.now() });
  for (const { id: keyId, scopes } of ended) await audit(call, 'api-key.revoked', { keyId, scopes });
  return ended;
}

async function notifyHolder({ db, who }: Call, accountId: string, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0 || who.accountId === accountId) return;
  await notify(db, {
    kind: 'api-key-changed',
    to: { accountIds: [accountId] },
    ...(who.accountId && { actorId: who.accountId }),
    data: { name: keys.map(({ name }) => name).join(', ') },
    mergeKey: `api-key-changed:${accountId}`,
  });
}
