import { foldUsername } from '#areas/accounts/public.ts';
import { requireMail, type Writing, writeMail } from '#areas/email/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import { createMailedReset } from './password-reset.ts';

const PER_HOUR = 3;
const placeOf = (requestId: string): string => `jobs|payload|email.send.reset|${requestId}`;

/** Enqueues one job for every name; the worker looks up the account, so the response time reveals nothing. */
export async function requestReset({ deps, enqueue }: Call, login: string): Promise<void> {
  requireMail(deps);
  const requestId = newId();
  await enqueue('email.send', { reset: seal(deps.keys, login, placeOf(requestId)), requestId }, { priority: 5 });
}

interface Account extends Pick<Row<'accounts'>, 'id' | 'username' | 'language' | 'factors'> {
  email: string;
  has_password: boolean;
}

/** Mails the link, or that the account has no password. Sends nothing without an account or a verified address. */
export async function handleResetRequest(
  db: Db,
  writing: Writing,
  { reset, requestId }: { reset: string; requestId: string },
): Promise<void> {
  const login = openedLogin(writing.keys, reset, requestId);
  const account = login === undefined ? undefined : await findMailed(db, login);
  if (!account || (await isOften(db, account.id))) return;
  const { id: accountId, email: to, language, username: name } = account;
  const mail = { kind: 'password-reset' as const, to, accountId, language, requested: true };
  if (!account.has_password && account.factors.includes('oidc')) {
    await writeMail(db, writing, { ...mail, text: 'oidc-only', values: { name } });
    return;
  }
  const { token, expiresAt } = await createMailedReset(db, accountId);
  const link = { path: `/reset#token=${token}`, expiresAt };
  await writeMail(db, writing, { ...mail, ...link, text: 'password-reset', values: { name, until: expiresAt } });
}

const openedLogin = (keys: Keys, sealed: string, requestId: string): string | undefined =>
  unseal(keys, sealed, placeOf(requestId));

/** Locks the account, so that concurrent requests are counted one after another. */
async function findMailed(db: Db, login: string): Promise<Account | undefined> {
  return db('accounts')
    .where({ disabled: false, is_system: false, email_verified: true })
    .whereNull('deleted_at')
    .whereNotNull('email')
    .whereRaw('coalesce(expires_at > now(), true)')
    .where((either) => {
      either.where('username_folded', foldUsername(login)).orWhereRaw('lower(email) = ?', [login.toLowerCase()]);
    })
    .orderByRaw('(username_folded = ?) desc', [foldUsername(login)])
    .forUpdate()
    .first(
      ...(['id', 'username', 'email', 'language', 'factors'] as const),
      db.raw('password_hash is not null as has_password'),
    );
}

async function isOften(db: Db, accountId: string): Promise<boolean> {
  const rows = await db('email_messages')
    .where({ account_id: accountId, kind: 'password-reset' })
    .where('asked', true)
    .whereRaw(`created_at > now() - interval '1 hour'`)
    .limit(PER_HOUR)
    .pluck('id');
  return rows.length >= PER_HOUR;
}
