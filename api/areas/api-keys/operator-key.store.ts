import type { Permission } from '#identity/permissions.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';

/** Scopes for the resources of the operator; `user:manage` because a Library names accounts by username (decision 016). */
const OPERATOR_SCOPES: readonly Permission[] = [
  'library:view',
  'library:manage',
  'settings:manage',
  'scan:trigger',
  'job:manage',
  'session:manage',
  'user:manage',
];

/** During a rotation the former key stays valid. */
const OLD_KEY_ENDS = `now() + interval '10 minutes'`;

/** Stores the key of the operator by its hash; the key that it replaces expires after ten minutes. Idempotent. */
export async function putOperatorKeyRow(db: Db, accountId: string, hash: Buffer): Promise<void> {
  const keys = () => db('api_keys').where({ account_id: accountId, operator: true });
  await keys().whereRaw('expires_at <= now()').delete();
  await keys()
    .whereNot({ hash })
    .whereNull('expires_at')
    .update({ expires_at: db.raw(OLD_KEY_ENDS) });
  await db('api_keys')
    .insert({
      id: newId(),
      account_id: accountId,
      name: 'operator',
      hash,
      hint: 'foyer_…',
      scopes: [...OPERATOR_SCOPES],
      per_minute: 10_000,
      operator: true,
    })
    .onConflict('hash')
    .merge(['scopes', 'per_minute', 'expires_at']);
}
