import type { Call } from '#kernel/endpoint.ts';
import { accountsReaching } from './accounts.store.ts';

export interface Access {
  everyone: boolean;
  roles: readonly string[];
  accountIds: readonly string[];
}

/** The one writer of access rows: tells each account that newly reaches the library. */
export async function setLibraryAccess(
  call: Call,
  libraryId: string,
  change: { access: Access; isNew: boolean },
): Promise<void> {
  const { db, who, emit } = call;
  const { access, isNew } = change;
  const before = isNew ? new Set<string>() : await accountsReaching(db, libraryId);
  await db('libraries')
    .where({ id: libraryId })
    .update({ everyone: access.everyone, access_roles: [...access.roles] });
  await db('library_access').where({ library_id: libraryId }).delete();
  const known = await db('accounts')
    .whereIn('id', access.accountIds)
    .where('is_system', false)
    .select<{ id: string }[]>('id');
  if (known.length > 0) {
    await db('library_access').insert(known.map(({ id }) => ({ library_id: libraryId, account_id: id })));
  }
  const after = await accountsReaching(db, libraryId);
  await db('accounts')
    .whereIn('id', [...before.symmetricDifference(after)])
    .increment('access_version', 1);
  for (const userId of after.difference(before)) {
    await emit(
      'library.access.granted',
      { libraryId, userId, byUserId: who.accountId },
      { userIds: [userId], libraryId },
    );
  }
}
