import { deleteAccountRow, removeProfileRow } from '#areas/accounts/public.ts';
import { passOnCollections } from '#areas/collections/public.ts';
import { removeFoldersOf } from '#areas/libraries/public.ts';
import { leaveRecordings } from '#areas/live-tv/public.ts';
import { purgeStatesOfAccount, purgeStatesOfProfile } from '#areas/playback/public.ts';
import { deleteStoragesOf, handOverStorages } from '#areas/storage/public.ts';
import { isDeleted } from '#areas/users/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from './work.ts';

/** Deletes the data of a deleted account in batches; each step may be repeated. */
export async function purgeUser({ accountId, transferTo }: JobPayload<'user.purge'>, work: Work): Promise<void> {
  const { db, signal } = work;
  if (!(await isDeleted(db, accountId))) return;
  while (await purgeStatesOfAccount(db, accountId)) signal.throwIfAborted();
  await db.transaction(async (transaction) => {
    // Personal storages pass to the heir, or are deleted with the items found in them; media files are never touched.
    if (transferTo) await handOverStorages(transaction, accountId, transferTo);
    await passOnCollections(transaction, accountId, transferTo ?? null);
    await leaveRecordings(transaction, accountId);
    await removeFoldersOf(transaction, accountId);
    await deleteStoragesOf(transaction, accountId);
    await deleteAccountRow(transaction, accountId);
  });
}

/** Deletes the data of a deleted profile in batches; the row itself last, so that an interrupted job can resume. */
export async function purgeProfile({ profileId }: JobPayload<'profile.purge'>, { db, signal }: Work): Promise<void> {
  while (await purgeStatesOfProfile(db, profileId)) signal.throwIfAborted();
  await removeProfileRow(db, profileId);
}
