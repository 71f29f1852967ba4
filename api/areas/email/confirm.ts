import { createHash } from 'node:crypto';
import { releaseAddress, updateAccount } from '#areas/accounts/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import { mailReady, type Writing, writeMail } from './messages/write.ts';

const HOURS = 48;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export interface Wanted {
  accountId: string;
  address: string;
  username: string;
  language: string | null;
}

/** Another account has proved that it is its own. */
async function isTaken(db: Db, { accountId, address }: Pick<Wanted, 'accountId' | 'address'>): Promise<boolean> {
  const row = await db('accounts')
    .whereRaw('lower(email) = ?', [address.toLowerCase()])
    .where({ email_verified: true })
    .whereNot({ id: accountId })
    .first('id');
  return row !== undefined;
}

/**
 * The address waits until its link is opened; without a mail server, or when it is another account's, no link goes. A newer
 * one voids the links before.
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
    ...{ kind: 'address-confirm', text: 'address-confirm', to: address, accountId, language, asked: true },
    values: { name: username, until: row.expires_at.toISOString() },
    path: `/confirm-email#token=${token}`,
    expiresAt: row.expires_at,
  });
}

/** The address of an account that waits for its link, and whether one went out. */
export async function pendingAddress(
  db: Db,
  accountId: string,
): Promise<{ address: string; asked: boolean } | undefined> {
  const row = await db('email_confirmations')
    .where({ account_id: accountId })
    .whereRaw('(hash is null or expires_at > now())')
    .first<{ address: string; hash: Buffer | null } | undefined>('address', 'hash');
  return row && { address: row.address, asked: row.hash !== null };
}

export async function forgetPending(db: Db, accountId: string): Promise<void> {
  await db('email_confirmations').where({ account_id: accountId }).delete();
}

interface Account {
  id: string;
  username: string;
  display_name: string;
  email: string | null;
  email_verified: boolean;
  language: string | null;
}

/** Wrong, used and old tokens are one 404. */
export async function confirmAddress(call: Call, token: string): Promise<{ address: string; displayName: string }> {
  const { db } = call;
  const asked = await db('email_confirmations as c')
    .join('accounts as a', 'a.id', 'c.account_id')
    .where('c.hash', hashOf(token))
    .where('a.disabled', false)
    .whereNull('a.deleted_at')
    .whereRaw('c.expires_at > now()')
    .forUpdate('c', 'a')
    .first<(Account & { address: string }) | undefined>('a.*', 'c.address');
  if (!asked) throw notFound();
  const { address, id: accountId } = asked;
  if (await isTaken(db, { accountId, address })) throw conflict('address-taken', 'Another account has this address');
  // Who only says that it is theirs loses it to who proves it.
  await releaseAddress(db, address, accountId);
  const raised = { revision: db.raw('revision + 1'), updated_at: db.fn.now() };
  await updateAccount(db, { id: accountId }, { email: address, email_verified: true, ...raised });
  await forgetPending(db, accountId);
  await audit({ ...call, who: { ...call.who, accountId } }, 'email.confirmed', { userId: accountId });
  await tellFormer(call, asked);
  return { address, displayName: asked.display_name };
}

async function tellFormer({ db, deps }: Call, asked: Account & { address: string }): Promise<void> {
  const { email: former, email_verified: verified, address } = asked;
  if (former === null || !verified || former.toLowerCase() === address.toLowerCase() || !mailReady(deps)) return;
  await writeMail(db, deps, {
    ...{ kind: 'methods-changed', text: 'address-changed', to: former, accountId: asked.id, language: asked.language },
    values: { name: asked.username, address },
  });
}
