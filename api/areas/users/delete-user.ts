import { deleteAccess } from '#areas/accounts/public.ts';
import { deleteKeys } from '#areas/api-keys/public.ts';
import { endAccess, removeMethods } from '#areas/auth/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { refuseStale } from './change-user.ts';
import { requireRank } from './rank.ts';
import { type UserRow, updateUserRow } from './users.store.ts';

/** Marks the account as deleted and ends its access; a job deletes its rows. Returns the id of the job. */
export async function removeUser(
  call: Call,
  row: UserRow,
  { confirm, transferTo }: { confirm: string; transferTo?: string | undefined },
): Promise<string> {
  const { db, who } = call;
  if (row.id === who.accountId) throw new ApiError('FORBIDDEN', 'You cannot delete your own account', { by: 'self' });
  requireRank(who, row.role);
  requireConfirmed(who, call.now);
  refuseStale(call, row, undefined);
  if (confirm !== row.username) throw conflict('confirm-mismatch', 'Confirm with the username');
  if (transferTo !== undefined) await refuseUnknownHeir(call, row.id, transferTo);
  await updateUserRow(db, row.id, {
    deleted_at: db.fn.now(),
    disabled: true,
    username_folded: `deleted:${row.id}`, // no name has a colon
    email: null,
    password_hash: null,
    own_permissions: '{}',
  });
  await endAccess(db, row.id);
  await deleteKeys(db, row.id);
  await removeMethods(db, row.id);
  await deleteAccess(db, row.id);
  await db('invites').where({ created_by: row.id }).whereNull('revoked_at').update({ revoked_at: db.fn.now() });
  await audit(call, 'user.deleted', { userId: row.id, username: row.username, role: row.role, transferTo });
  return call.enqueue(
    'user.purge',
    { accountId: row.id, ...(transferTo !== undefined && { transferTo }) },
    { key: `user.purge:${row.id}`, target: { kind: 'user', id: row.id, title: row.display_name } },
  );
}

async function refuseUnknownHeir({ db }: Call, id: string, heir: string): Promise<void> {
  const found = await db('accounts')
    .where({ id: heir, is_system: false })
    .whereNot({ id })
    .whereNull('deleted_at')
    .first('id');
  if (!found) throw invalid(['query', 'transferTo'], 'unknown_account', 'the account does not exist');
}
