import { displayNameOf } from '#areas/accounts/public.ts';
import { revokeKeys } from '#areas/api-keys/public.ts';
import { endSessions, removeMethods, resetWasSent } from '#areas/auth/public.ts';
import { requireMail, writeMail } from '#areas/email/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
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
  summary: 'Reset the sign-in of an account',
  description:
    'For a person who lost a password, a device or a second factor; with `link` false it signs them out everywhere. Needs a confirmed session and a higher rank. Returns a one-time link once, or mails it with `sendMail` (409 `no-email` or `mail-not-configured`). The person is notified of each removed method.',
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
    if (body.sendMail) requireMailTo(call, row);
    await removeRequested(db, row.id, body);
    const endedSessions = body.endSessions ? await endSessions(db, row.id) : 0;
    const revokedKeys = body.revokeKeys ? await revokeKeys(call, row.id) : 0;
    const link = body.link ? await resetLink(call, row.id, body.hours) : undefined;
    const mailed = body.sendMail && link !== undefined && (await mailLink(call, row, link));
    await notifyPerson(call, row, { body, endedSessions, revokedKeys });
    await audit(call, 'user.sign-in-reset', { userId: row.id, ...body, endedSessions, revokedKeys });
    call.reply.header('Cache-Control', 'no-store');
    const shown = link && { url: link.url, expiresAt: link.expiresAt };
    return { ...shown, endedSessions, revokedKeys, mailed };
  },
});

/** 409 `no-email`, `mail-not-configured` or `no-public-url`. */
function requireMailTo({ deps }: Call, { email }: UserRow): void {
  if (email === null) throw conflict('no-email', 'The account has no address');
  requireMail(deps);
}

async function mailLink(
  { db, deps }: Call,
  { id: accountId, email, username: name, language }: UserRow,
  { path, expiresAt }: { path: string; expiresAt: string },
): Promise<boolean> {
  if (email === null) return false;
  await writeMail(db, deps, {
    ...{ kind: 'password-reset', text: 'password-reset', to: email, accountId, language, path, expiresAt },
    values: { name, until: expiresAt },
  });
  await resetWasSent(db, accountId);
  return true;
}

interface Done {
  body: SignInReset;
  endedSessions: number;
  revokedKeys: number;
}

/** Notifies the person of the removed methods and who removed them. */
async function notifyPerson(
  { db, who }: Call,
  row: UserRow,
  { body, endedSessions, revokedKeys }: Done,
): Promise<void> {
  const parts = [
    ...(body.removeTwoFactor ? ['two-factor'] : []),
    ...(body.removePasskeys ? ['passkeys'] : []),
    ...(revokedKeys > 0 ? ['API keys'] : []),
    ...(endedSessions > 0 ? ['sessions'] : []),
    ...(body.link ? ['password'] : []),
  ];
  if (parts.length === 0) return;
  const by = await displayNameOf(db, who.accountId);
  await notify(db, {
    kind: 'methods-changed',
    to: { accountIds: [row.id] },
    actorId: who.accountId,
    data: { name: `${parts.join(', ')} (${by})` },
    url: '/me/sign-in',
  });
}

async function removeRequested(db: Db, accountId: string, requested: SignInReset): Promise<void> {
  const kinds = [
    ...(requested.removeTwoFactor ? (['totp', 'recovery-codes'] as const) : []),
    ...(requested.removePasskeys ? (['passkey'] as const) : []),
  ];
  if (kinds.length > 0) await removeMethods(db, accountId, kinds);
}
