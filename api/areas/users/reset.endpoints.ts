import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { requireConfirmed } from '#kernel/person.ts';
import { IdParams } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { resetLink } from './create-user.ts';
import { requireRank } from './rank.ts';
import { SignInReset, SignInResetAnswer } from './users.schemas.ts';
import { lockUserRow, type UserRow } from './users.store.ts';

export const resetUserSignIn = defineEndpoint({
  operationId: 'resetUserSignIn',
  method: 'post',
  path: '/users/:id/sign-in-reset',
  summary: 'Help somebody who lost a password, telephone or device back in, or sign them out everywhere',
  access: { permission: 'user:manage' },
  params: IdParams,
  body: SignInReset,
  optionalBody: true,
  answer: json(200, SignInResetAnswer),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    const { db, who, now } = call;
    const row = await lockUserRow(db, params.id);
    requireRank(who, row.role);
    requireConfirmed(who, now);
    if (body.sendMail) refuseMail(row);
    await removeMethods(db, row.id, body);
    const endedSessions = body.endSessions ? await db('sessions').where({ account_id: row.id }).delete() : 0;
    const revokedKeys = body.revokeKeys ? await revokeKeys(db, row.id) : 0;
    const link = body.link ? await resetLink(call, row.id, body.hours) : {};
    await audit(call, 'user.sign-in-reset', { userId: row.id, ...body, endedSessions, revokedKeys });
    call.reply.header('Cache-Control', 'no-store');
    return { ...link, endedSessions, revokedKeys, mailed: false };
  },
});

/** Area Email is not there to send it. */
function refuseMail({ email }: UserRow): void {
  if (email === null) throw conflict('no-email', 'The account has no address');
  throw conflict('mail-not-configured', 'Mail is not set up');
}

async function removeMethods(db: Db, accountId: string, wish: SignInReset): Promise<void> {
  const kinds = [
    ...(wish.removeTwoFactor ? ['totp', 'recovery-codes'] : []),
    ...(wish.removePasskeys ? ['passkey'] : []),
  ];
  if (kinds.length > 0) await db('sign_in_methods').where({ account_id: accountId }).whereIn('kind', kinds).delete();
}

const revokeKeys = (db: Db, accountId: string): Promise<number> =>
  db('api_keys').where({ account_id: accountId }).whereNull('revoked_at').update({ revoked_at: db.fn.now() });
