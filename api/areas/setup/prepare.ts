import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createAccount, insertAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { declareBackups } from '#areas/backup/public.ts';
import { fullVersion } from '#areas/server/public.ts';
import type { Permission } from '#identity/permissions.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Keys } from '#platform/keys.ts';

const OwnerFile = z.object({ username: z.string().min(1).max(64), password: z.string().min(8).max(256) });

/** What the resource declares, made so before the first pod is ready; repeating it changes nothing. */
export async function prepareServer(db: Db, config: Config, keys: Keys): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction('server_state')
      .insert({ server_id: keys.serverId, claim_sha256: config.claimSha256 ?? null, version: fullVersion })
      .onConflict('one')
      .merge(['claim_sha256', 'version']);
    await putStorages(transaction, config);
    await putOperatorKey(transaction, config);
    await putOwner(transaction, config);
    await declareBackups(transaction, config, keys);
  });
}

/** Each media root is a storage of the same id; a root that is gone leaves its row, since files stand on it. */
async function putStorages(db: Db, config: Config): Promise<void> {
  for (const root of config.mediaRoots) {
    const managedBy = config.managedBy && JSON.stringify(config.managedBy);
    await db('storages')
      .insert({
        id: root.id,
        name: root.name,
        kind: 'mount',
        root_name: root.name,
        read_only: root.readOnly,
        managed_by: managedBy,
      })
      .onConflict('id')
      .merge(['name', 'root_name', 'read_only', 'managed_by']);
  }
}

const SYSTEM = 'system';

/** What resources stand for; `user:manage` because a Library names accounts by username (decision 016). */
const OPERATOR_SCOPES: readonly Permission[] = [
  'library:view',
  'library:manage',
  'settings:manage',
  'scan:trigger',
  'job:manage',
  'session:manage',
  'user:manage',
];

/** While a rotation goes round, the key before it counts too. */
const OLD_KEY_ENDS = `now() + interval '10 minutes'`;

async function putOperatorKey(db: Db, config: Config): Promise<void> {
  const known = await db('accounts').where({ is_system: true }).first('id');
  const account =
    known ?? (await insertAccount(db, { username: SYSTEM, role: 'admin', passwordHash: null, system: true }));
  if (!config.operatorKeySha256) return;
  const hash = Buffer.from(config.operatorKeySha256, 'hex');
  const keys = () => db('api_keys').where({ account_id: account.id, operator: true });
  await keys().whereRaw('expires_at <= now()').delete();
  await keys()
    .whereNot({ hash })
    .whereNull('expires_at')
    .update({ expires_at: db.raw(OLD_KEY_ENDS) });
  await db('api_keys')
    .insert({
      id: newId(),
      account_id: account.id,
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

/** The owner of `ownerSecretRef`: made once, and its password follows the Secret. */
async function putOwner(db: Db, config: Config): Promise<void> {
  if (!config.ownerFile) return;
  const { username, password } = OwnerFile.parse(JSON.parse(readFileSync(config.ownerFile, 'utf8')));
  const passwordHash = await hashPassword(password);
  const owner = await db('accounts').where({ role: 'owner' }).first('id');
  if (owner) {
    await db('accounts').where({ id: owner.id }).whereNotNull('managed_by').update({ password_hash: passwordHash });
  } else {
    await createAccount(db, { username, role: 'owner', passwordHash, managedBy: config.managedBy });
  }
  await db('server_state').whereNull('setup_completed_at').update({ setup_completed_at: new Date() });
}
