import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { updateAccount } from '#areas/accounts/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { recordAudit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import type { PasswordReset } from '../auth.schemas.ts';
import { refuseWeakPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';

const OWNER_HOURS = 24;
const MAIL_HOURS = 1;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Creates a one-time token to set a new password for the owner; a newer one invalidates it. Undefined without an owner.
 * With the hash of a token that another process created, only the hash is stored.
 */
export async function createOwnerReset(
  db: Db,
  hash?: Buffer,
): Promise<{ username: string; token?: string; expiresAt: string } | undefined> {
  const owner = await db('accounts').where({ role: 'owner' }).first('id', 'username');
  if (!owner) return undefined;
  const token = hash ? undefined : newSecret('foypr_');
  const reset = { hash: hash ?? hashOf(token ?? ''), hours: OWNER_HOURS, byMail: false };
  const expiresAt = await putReset(db, owner.id, reset);
  await recordAudit(db, { accountId: owner.id, action: 'owner-recovery' });
  await notify(db, {
    kind: 'ownership-changed',
    to: { permission: 'user:manage' },
    target: { kind: 'user', id: owner.id },
    data: { name: owner.username, step: 'recovery' },
    mergeKey: 'owner-recovery',
    url: '/admin/ownership',
  });
  return { username: owner.username, ...(token !== undefined && { token }), expiresAt };
}

/** Creates a one-time token for a link that an admin hands over; a newer one invalidates it. */
export async function createReset(
  db: Db,
  accountId: string,
  hours: number,
): Promise<{ token: string; expiresAt: string }> {
  const token = newSecret('foypr_');
  return { token, expiresAt: await putReset(db, accountId, { hash: hashOf(token), hours, byMail: false }) };
}

/** Records that the link of `createReset` was mailed too. */
export async function resetWasSent(db: Db, accountId: string): Promise<void> {
  await db('password_resets').where({ account_id: accountId }).update({ sent: true });
}

/** Invalidates mailed links when the address changes: they prove the former address only. */
export async function endMailedResets(db: Db, accountId: string): Promise<void> {
  await db('password_resets').where({ account_id: accountId }).whereRaw('(sent or by_mail)').delete();
}

/** Creates a one-time token that goes only to the address of the account, so that using it proves the address. */
export async function createMailedReset(db: Db, accountId: string): Promise<{ token: string; expiresAt: string }> {
  const token = newSecret('foypr_');
  return { token, expiresAt: await putReset(db, accountId, { hash: hashOf(token), hours: MAIL_HOURS, byMail: true }) };
}

interface NewReset {
  hash: Buffer;
  hours: number;
  byMail: boolean;
}

async function putReset(db: Db, accountId: string, { hash, hours, byMail }: NewReset): Promise<string> {
  const [row] = await db('password_resets')
    .insert({
      account_id: accountId,
      hash,
      by_mail: byMail,
      sent: byMail,
      expires_at: db.raw('now() + make_interval(hours => ?)', [hours]),
    })
    .onConflict('account_id')
    .merge()
    .returning('expires_at');
  if (!row) throw new Error('no row');
  return iso(row.expires_at);
}

/** 404 for wrong, used and expired tokens alike. Without a new password nothing changes. */
export async function redeemReset(
  call: Call,
  token: string,
  newPassword: string | undefined,
): Promise<z.input<typeof PasswordReset>> {
  const { db } = call;
  const reset = await db('password_resets as r')
    .join('accounts as a', 'a.id', 'r.account_id')
    .where('r.hash', hashOf(token))
    .whereRaw('r.expires_at > now() and not a.disabled and coalesce(a.expires_at > now(), true)')
    .forUpdate('r')
    .first('r.account_id', 'r.by_mail', 'r.expires_at', 'a.username', 'a.email', 'a.display_name', 'a.factors');
  if (!reset) throw notFound();
  const shown = {
    username: reset.username,
    displayName: reset.display_name,
    twoFactor: reset.factors.includes('totp') || reset.factors.includes('passkey'),
    expiresAt: iso(reset.expires_at),
  };
  if (newPassword === undefined) return { ...shown, changed: false };
  refuseWeakPassword(call, newPassword, [reset.username, reset.email]);
  const passwordHash = await hashPassword(newPassword);
  const change = { password_hash: passwordHash, must_change_password: false, password_changed_at: db.fn.now() };
  await updateAccount(db, { id: reset.account_id }, { ...change, ...(reset.by_mail && { email_verified: true }) });
  await endAccess(db, reset.account_id);
  await db('sign_in_challenges').where({ account_id: reset.account_id }).delete();
  await recordAudit(db, { accountId: reset.account_id, action: 'password-reset', address: call.client.address });
  return { ...shown, changed: true };
}

/** Ends the sessions and the open links of a disabled account, whose keys are refused anyway. Returns the number of sessions. */
export async function endAccess(db: Db, accountId: string): Promise<number> {
  await db('password_resets').where({ account_id: accountId }).delete();
  return db('sessions').where({ account_id: accountId }).delete();
}
