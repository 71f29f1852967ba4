import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createAccount, insertAccount, updateAccount } from '#areas/accounts/public.ts';
import { putOperatorKeyRow } from '#areas/api-keys/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { declareBackups } from '#areas/backup/public.ts';
import { fullVersion } from '#areas/server/public.ts';
import { putMount } from '#areas/storage/public.ts';
import type { Config } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import type { Keys } from '#platform/keys.ts';
import { putServerState, updateServerState } from '#platform/server-state.ts';

const OwnerFile = z.object({ username: z.string().min(1).max(64), password: z.string().min(8).max(256) });

/** Creates what resources declare before the first pod is ready. Idempotent. */
export async function prepareServer(db: Db, config: Config, keys: Keys): Promise<void> {
  await db.transaction(async (transaction) => {
    await putServerState(transaction, {
      server_id: keys.serverId,
      claim_sha256: config.claimSha256 ?? null,
      version: fullVersion,
    });
    await putStorages(transaction, config);
    await putOperatorKey(transaction, config);
    await putOwner(transaction, config);
    await declareBackups(transaction, config, keys);
  });
}

async function putStorages(db: Db, config: Config): Promise<void> {
  for (const root of config.mediaRoots) await putMount(db, root, config.managedBy && JSON.stringify(config.managedBy));
}

const SYSTEM = 'system';

/** The account of the operator, and the key from its Secret. */
async function putOperatorKey(db: Db, config: Config): Promise<void> {
  const known = await db('accounts').where({ is_system: true }).first('id');
  const account =
    known ?? (await insertAccount(db, { username: SYSTEM, role: 'admin', passwordHash: null, system: true }));
  if (!config.operatorKeySha256) return;
  await putOperatorKeyRow(db, account.id, Buffer.from(config.operatorKeySha256, 'hex'));
}

/** The owner of `ownerSecretRef`: created once, and its password follows the Secret. */
async function putOwner(db: Db, config: Config): Promise<void> {
  if (!config.ownerFile) return;
  const { username, password } = OwnerFile.parse(JSON.parse(readFileSync(config.ownerFile, 'utf8')));
  const passwordHash = await hashPassword(password);
  const owner = await db('accounts').where({ role: 'owner' }).first('id', 'managed_by');
  if (owner) {
    if (owner.managed_by) await updateAccount(db, { id: owner.id }, { password_hash: passwordHash });
  } else {
    await createAccount(db, { username, role: 'owner', passwordHash, managedBy: config.managedBy });
  }
  await updateServerState(db, { setup_completed_at: new Date() }, { setup_completed_at: null });
}
