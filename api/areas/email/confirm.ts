import { createHash } from 'node:crypto';
import { releaseAddress, updateAccount } from '#areas/accounts/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import { mailReady, type Writing, writeMail } from './messages/write.ts';

const HOURS = 48;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export interface Wanted {
  accountId: string;
  address: string;
  username: string;
  language: string | null;
}

/** Whether another account has verified the address. */
async function isTaken(db: Db, { accountId, address }: Pick<Wanted, 'accountId' | 'address'>): Promise<boolean> {
  const row = await db('accounts')
    .whereRaw('lower(email) = ?', [address.toLowerCase()])
    .where({ email_verified: true })
    .whereNot({ id: accountId })
    .first('id');
  return row !== undefined;
}

/**
 * Stores the address as pending and mails its link, unless there is no mail server or another account has the address. A newer
 * one invalidates earlier links.
 */
export async function resolveAddress(db: Db, writing: Writing, wanted: Wanted): Promise<void> {
  const { accountId, address, username, language } = wanted;
  const mails = mailReady(writing);
  const token = newSecret('foyec_');
  const expires = db.raw('now() + make_interval(hours => ?)', [HOURS]);
  const [row] = await db('email_confirmations')
    .insert({ account_id: accountId, address, hash: mails ? hashOf(token) : null, expires_at: expires })
    .onConflict('account_id')
    .merge()
    .returning('expires_at');
  if (!row || !mails || (await isTaken(db, wanted))) return;
  await writeMail(db, writing, {
    ...{ kind: 'address-confirm', text: 'address-confirm', to: address, accountId, language, requested: true },
    values: { name: username, until: row.expires_at.toISOString() },
    path: `/confirm-email#token=${token}`,
    expiresAt: row.expires_at,
  });
}

/** The pending address of an account, and whether its link was mailed. */
export async function pendingAddress(
  db: Db,
  accountId: string,
): Promise<{ address: string; mailed: boolean } | undefined> {
  const row = await db('email_confirmations')
    .where({ account_id: accountId })
    .whereRaw('(hash is null or expires_at > now())')
    .first('address', 'hash');
  return row && { address: row.address, mailed: row.hash !== null };
}

export async function forgetPending(db: Db, accountId: string): Promise<void> {
  await db('email_confirmations').where({ account_id: accountId }).delete();
}

type Account = Pick<Row<'accounts'>, 'id' | 'username' | 'display_name' | 'email' | 'email_verified' | 'language'>;

/** 404 for wrong, used and expired tokens alike. */
export async function confirmAddress(call: Call, token: string): Promise<{ address: string; displayName: string }> {
  const { db } = call;
  const pending = await db('email_confirmations as c')
    .join('accounts as a', 'a.id', 'c.account_id')
    .where('c.hash', hashOf(token))
    .where('a.disabled', false)
    .whereNull('a.deleted_at')
    .whereRaw('c.expires_at > now()')
    .forUpdate('c', 'a')
    .first<(Account & { address: string }) | undefined>('a.*', 'c.address');
  if (!pending) throw notFound();
  const { address, id: accountId } = pending;
  if (await isTaken(db, { accountId, address })) throw conflict('address-taken', 'Another account has this address');
  // An account with the address unverified loses it to the account that verifies it.
  await releaseAddress(db, address, accountId);
  const raised = { revision: db.raw('revision + 1'), updated_at: db.fn.now() };
  await updateAccount(db, { id: accountId }, { email: address, email_verified: true, ...raised });
  await forgetPending(db, accountId);
  await audit({ ...call, who: { ...call.who, accountId } }, 'email.confirmed', { userId: accountId });
  await notifyFormer(call, pending);
  return { address, displayName: pending.display_name };
}

async function notifyFormer({ db, deps }: Call, pending: Account & { address: string }): Promise<void> {
  const { email: former, email_verified: verified, address } = pending;
  if (former === null || !verified || former.toLowerCase() === address.toLowerCase() || !mailReady(deps)) return;
  await writeMail(db, deps, {
    ...{
      kind: 'methods-changed',
      text: 'address-changed',
      to: former,
      accountId: pending.id,
      language: pending.language,
    },
    values: { name: pending.username, address },
  });
}
