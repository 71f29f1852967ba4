import { notify } from '#areas/notifications/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { ManagedBy } from '#platform/config.ts';
import type { Db } from '#platform/db.ts';
import { accountsReaching, librariesReached } from './reach.store.ts';

/**
 * The only writer of access rows, for a library or for an account. It alone emits `library.access.granted` to accounts that
 * gain access, and each change raises the access version of the affected accounts.
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
  for (const userId of after.difference(before)) await announceAccess(call, libraryId, userId);
}

export interface AccountLibraries {
  mode: 'default' | 'only';
  ids: readonly string[];
  /** The account is new: an event is emitted for each library that it reaches. */
  isNew?: boolean | undefined;
}

/** Replaces the libraries of an account. Libraries whose access a resource declares keep their rows and are returned. */
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

/** Emits `library.access.granted` for each library that the account did not reach before. */
export async function emitReached(call: Call, accountId: string, before: ReadonlySet<string>): Promise<void> {
  const after = await librariesReached(call.db, accountId);
  for (const libraryId of after.difference(before)) await announceAccess(call, libraryId, accountId);
}

async function announceAccess({ db, who, emit }: Call, libraryId: string, userId: string): Promise<void> {
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
    url: `/library/${libraryId}`,
  });
}

/** Deletes the access rows of an account. */
export async function deleteAccess(db: Db, accountId: string): Promise<void> {
  await db('library_access').where({ account_id: accountId }).delete();
}
