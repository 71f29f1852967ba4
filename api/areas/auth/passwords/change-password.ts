import type { z } from 'zod';
import { updateAccount } from '#areas/accounts/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { existing } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { countAccountAttempt } from '../attempts.ts';
import type { ChangePassword } from '../methods/methods.schemas.ts';
import { notifyMethodChanged } from '../notify.ts';
import { removeOtherSessions } from '../sign-in/sessions.store.ts';
import { refuseWeakPassword } from './password-rules.ts';
import { hashPassword, passwordMatches } from './passwords.ts';

type AccountRow = Pick<Row<'accounts'>, 'username' | 'email' | 'role' | 'password_hash' | 'managed_by'>;

export async function changeOwnPassword(
  call: Call,
  body: z.output<typeof ChangePassword>,
): Promise<{ endedSessions: number }> {
  const { db, who } = call;
  const row = existing(
    await db('accounts').where({ id: who.accountId }).first('username', 'email', 'role', 'password_hash', 'managed_by'),
  );
  if (row.managed_by) {
    const details = { fields: ['newPassword'], managedBy: row.managed_by };
    throw conflict('managed-by-resource', 'A resource declares this account', details);
  }
  await refuseUnproved(call, row, body.currentPassword);
  refuseWeakPassword(call, body.newPassword, [row.username, row.email]);
  const passwordHash = await hashPassword(body.newPassword);
  return call.transact(async (inside) => {
    const change = {
      password_hash: passwordHash,
      must_change_password: false,
      password_changed_at: inside.db.fn.now(),
    };
    await updateAccount(inside.db, { id: who.accountId }, change);
    await inside.db('password_resets').where({ account_id: who.accountId }).delete();
    await inside.db('sign_in_challenges').where({ account_id: who.accountId }).delete();
    const endedSessions = body.endOthers ? await removeOtherSessions(inside.db, who.accountId, who.sessionId) : 0;
    await audit(inside, 'password-changed', { endedSessions });
    await notifyMethodChanged(inside, 'password');
    return { endedSessions };
  });
}

/** Requires the current password or a confirmed session, unless the account has no password. */
async function refuseUnproved(call: Call, row: AccountRow, current: string | undefined): Promise<void> {
  if (current === undefined) {
    if (row.password_hash) requireConfirmed(call.who, call.now);
    return;
  }
  await countAccountAttempt(call, 'password', call.who.accountId);
  if (!(await passwordMatches(row.password_hash, current)))
    throw invalid(['body', 'currentPassword'], 'wrong_password', 'this is not the current password');
}
