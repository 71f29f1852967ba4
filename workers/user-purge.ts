import { purgeSomeOfProfile, removeProfileRow } from '#areas/auth/public.ts';
import { isDeleted, passOnStorages, purgeAccount, purgeSome } from '#areas/users/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from './work.ts';

/** What a deleted account leaves, in batches; each step may be repeated. */
export async function purgeUser({ accountId, transferTo }: JobPayload<'user.purge'>, work: Work): Promise<void> {
  const { db, signal } = work;
  if (!(await isDeleted(db, accountId))) return;
  while (await purgeSome(db, accountId)) signal.throwIfAborted();
  await db.transaction(async (transaction) => {
    await passOnStorages(transaction, accountId, transferTo);
    await purgeAccount(transaction, accountId);
  });
}

/** What a deleted profile leaves, in batches; the row itself last, so that a job that ended early goes on. */
export async function purgeProfile({ profileId }: JobPayload<'profile.purge'>, { db, signal }: Work): Promise<void> {
  while (await purgeSomeOfProfile(db, profileId)) signal.throwIfAborted();
  await removeProfileRow(db, profileId);
}
