import { notify } from '#areas/notifications/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { accountsReaching, librariesReached } from './reach.store.ts';

/**
 * The one writer of access rows, seen from a library or from an account. Whoever newly reaches a library is told, by
 * nothing else. A change raises the access version of those it is about.
 */

export interface LibraryAccess {
  everyone: boolean;
  roles: readonly string[];
  accountIds: readonly string[];
}

export async function setLibraryAccess(
  call: Call,
  libraryId: string,
  change: { access: LibraryAccess; isNew: boolean; store: () => Promise<void> },
): Promise<void> {
  const { db } = call;
  const { access, isNew } = change;
  const before = isNew ? new Set<string>() : await accountsReaching(db, libraryId);
  await change.store();
  await db('library_access').where({ library_id: libraryId }).delete();
  const known = await db('accounts')
    .whereIn('id', access.accountIds)
    .where('is_system', false)
    .whereNull('deleted_at')
    .select('id');
  if (known.length > 0) {
    await db('library_access').insert(known.map(({ id }) => ({ library_id: libraryId, account_id: id })));
  }
  const after = await accountsReaching(db, libraryId);
  await db('accounts')
    .whereIn('id', [...before.symmetricDifference(after)])
    .increment('access_version', 1);
  for (const userId of after.difference(before)) await tell(call, libraryId, userId);
}

export interface AccountLibraries {
  mode: 'default' | 'only';
  ids: readonly string[];
  /** Nobody was told of any library yet. */
  isNew?: boolean | undefined;
}

/** What an account reaches. Libraries whose access a resource declares keep their rows; they are answered. */
export async function setAccountLibraries(
  call: Call,
  accountId: string,
  { mode, ids, isNew }: AccountLibraries,
): Promise<{ libraryId: string; by: ManagedBy }[]> {
  const { db } = call;
  const before = isNew ? new Set<string>() : await librariesReached(db, accountId);
  const managed = await db('libraries')
    .whereNotNull('managed_by')
    .whereNull('deleted_at')
    .whereRaw(`'access' = any(managed_fields)`)
    .select('id', 'managed_by');
  const kept = managed.map(({ id }) => id);
  await db('accounts')
    .where({ id: accountId })
    .update({ library_mode: mode, access_version: db.raw('access_version + 1') });
  await db('library_access').where({ account_id: accountId }).whereNotIn('library_id', kept).delete();
  const rows = ids.filter((id) => !kept.includes(id)).map((id) => ({ library_id: id, account_id: accountId }));
  if (rows.length > 0) await db('library_access').insert(rows);
  await emitReached(call, accountId, before);
  return managed.flatMap(({ id, managed_by: by }) => (by && ids.includes(id) ? [{ libraryId: id, by }] : []));
}

/** Says of each library that the account did not reach before that it does now. */
export async function emitReached(call: Call, accountId: string, before: ReadonlySet<string>): Promise<void> {
  const after = await librariesReached(call.db, accountId);
  for (const libraryId of after.difference(before)) await tell(call, libraryId, accountId);
}

async function tell({ db, who, emit }: Call, libraryId: string, userId: string): Promise<void> {
  const payload = { libraryId, userId, byUserId: who.accountId || userId };
  await emit('library.access.granted', payload, { userIds: [userId], libraryId });
  const library = await db('libraries').where({ id: libraryId }).first('name');
  await notify(db, {
    kind: 'library-granted',
    to: { accountIds: [userId] },
    target: { kind: 'library', id: libraryId },
    libraryId,
    ...(who.accountId && { actorId: who.accountId }),
    data: { name: library?.name ?? '' },
    url: `/libraries/${libraryId}`,
  });
}

/** Deletes every access that was granted to the account by name. */
export async function deleteAccess(db: Db, accountId: string): Promise<void> {
  await db('library_access').where({ account_id: accountId }).delete();
}
