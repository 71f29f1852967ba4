import type { z } from 'zod';
import { foldUsername, isSameName, updateAccount } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { countPasskey, countSignIn } from '../attempts.ts';
import type { Login, SignIn } from '../auth.schemas.ts';
import { accountOfPasskey, ownerOfPasskey } from '../passkeys/passkeys.ts';
import { hashPassword, isOutdated, passwordMatches } from '../passwords/passwords.ts';
import { noteFailure, requireSecondFactor } from '../second-factor/second-factor.ts';
import { startSession } from './sign-in.ts';

interface Candidate extends Pick<Row<'accounts'>, 'id' | 'password_hash' | 'role'> {
  unusable: boolean;
}

type Body = z.output<typeof Login>;

/** Signs in by name and password, or by a passkey alone. */
export async function login(call: Call, body: Body): Promise<SignIn> {
  if (body.passkey) return loginByPasskey(call, body, body.passkey);
  return loginByPassword(call, body, { username: body.username ?? '', password: body.password ?? '' });
}

/** The device has verified the person, so no second factor is required. */
async function loginByPasskey(call: Call, body: Body, passkey: NonNullable<Body['passkey']>): Promise<SignIn> {
  await countPasskey(call, await ownerOfPasskey(call.db, passkey.id));
  const enabled = call.deps.settings.get('auth.passkeys.enabled');
  const id = enabled ? await accountOfPasskey(call, passkey) : undefined;
  if (!id) {
    await noteFailure(call, undefined, { method: 'passkey' });
    throw new ApiError('UNAUTHENTICATED', 'The passkey is not accepted', {});
  }
  const account = await call
    .db('accounts')
    .where({ id })
    .first<{ unusable: boolean }>(call.db.raw('(disabled or coalesce(expires_at < now(), false)) as unusable'));
  if (account.unusable) throw await refused(call, id, disabled());
  const { keep, remember, profileId } = body;
  return call.transact((inside) =>
    startSession(inside, { accountId: id, method: 'passkey', twoFactor: true, keep, remember, profileId }),
  );
}

/** An unknown name, a wrong password and an account without one get the same response in the same time. */
async function loginByPassword(
  call: Call,
  body: Body,
  { username, password }: { username: string; password: string },
): Promise<SignIn> {
  const { db } = call;
  const account = await candidate(db, username);
  await countSignIn(call, { username, accountId: account?.id });
  const right = await passwordMatches(account?.password_hash ?? null, password);
  if (!account || !right) {
    await noteFailure(call, account?.id, {});
    throw new ApiError('UNAUTHENTICATED', 'The name or the password is wrong', {});
  }
  const refusal = refusalOf(call, account);
  if (refusal) throw await refused(call, account.id, refusal);
  await renewHash(db, account, password);
  const secondFactor = await requireSecondFactor(call, {
    accountId: account.id,
    method: 'password',
    profileId: body.profileId,
  });
  if (secondFactor) throw secondFactor;
  return call.transact((inside) =>
    startSession(inside, {
      accountId: account.id,
      method: 'password',
      keep: body.keep,
      remember: body.remember,
      profileId: body.profileId,
    }),
  );
}

/** Replaces the hash of a right password when the configured cost is higher. */
async function renewHash(db: Db, { id, password_hash: before }: Candidate, password: string): Promise<void> {
  if (before === null || !isOutdated(before)) return;
  const hash = await hashPassword(password);
  await updateAccount(db, { id, password_hash: before }, { password_hash: hash });
}

/** Refusals that are revealed only after the right password. */
function refusalOf({ deps }: Call, account: Candidate): Refusal | undefined {
  if (account.unusable) return disabled();
  if (deps.settings.get('auth.password.enabled') || account.role === 'owner') return undefined;
  return new ApiError('FORBIDDEN', 'Signing in with a password is turned off', { by: 'password-off' });
}

type Refusal = ApiError<'FORBIDDEN'>;
const disabled = (): Refusal => new ApiError('FORBIDDEN', 'This account is disabled', { by: 'account-disabled' });

/** Audits the refusal and returns it. */
async function refused(call: Call, accountId: string, refusal: Refusal): Promise<Refusal> {
  await noteFailure(call, accountId, { ...(refusal.details.by && { by: refusal.details.by }) });
  return refusal;
}

/** Finds the account by name in any letter case, otherwise exactly, or by a verified address; a name takes precedence. */
async function candidate(db: Db, name: string): Promise<Candidate | undefined> {
  const rows = await db('accounts')
    .where({ is_system: false })
    .where((either) => {
      either
        .where({ username_folded: foldUsername(name) })
        .orWhereRaw('email_verified and lower(email) = ?', [name.toLowerCase()]);
    })
    .select<(Candidate & { username: string; by_address: boolean })[]>(
      'id',
      'username',
      'password_hash',
      'role',
      db.raw('(disabled or coalesce(expires_at < now(), false)) as unusable'),
      db.raw('coalesce(email_verified and lower(email) = ?, false) as by_address', [name.toLowerCase()]),
    );
  return rows.find(({ username }) => isSameName(username, name)) ?? rows.find((row) => row.by_address);
}
