import type { z } from 'zod';
import { foldUsername } from '#areas/users/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import type { Db } from '#platform/db.ts';
import { sha256 } from '#platform/keys.ts';
import type { Login, SignIn } from './auth.schemas.ts';
import { passwordMatches } from './passwords.ts';
import { startSession } from './sign-in.ts';

const PER_MINUTE = 10; // SPEC 8, by address and by name

interface Candidate {
  id: string;
  password_hash: string | null;
  role: string;
  unusable: boolean;
}

/** Unknown name, wrong password, no password: one answer, in one time. */
export async function login(call: Call, body: z.output<typeof Login>): Promise<SignIn> {
  const { deps, client, db } = call;
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  await limitAttempts(limiter, `login-address:${addressGroup(client.address)}`, PER_MINUTE);
  await limitAttempts(limiter, `login-name:${sha256(foldUsername(body.username))}`, PER_MINUTE);
  const account = await candidate(db, body.username);
  const right = await passwordMatches(account?.password_hash ?? null, body.password);
  if (!account || !right) throw new ApiError('UNAUTHENTICATED', 'The name or the password is wrong', {});
  if (account.unusable) throw new ApiError('FORBIDDEN', 'This account is disabled', { by: 'account-disabled' });
  if (!deps.settings.get('auth.password.enabled') && account.role !== 'owner') {
    throw new ApiError('FORBIDDEN', 'Signing in with a password is switched off', { by: 'password-off' });
  }
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

/** By name in any letter case, or by a verified address. */
async function candidate(db: Db, name: string): Promise<Candidate | undefined> {
  const rows = await db('accounts')
    .where({ is_system: false })
    .where((either) => {
      either
        .where({ username_folded: foldUsername(name) })
        .orWhereRaw('email_verified and lower(email) = ?', [name.toLowerCase()]);
    })
    .select<Candidate[]>(
      'id',
      'password_hash',
      'role',
      db.raw('(disabled or coalesce(expires_at < now(), false)) as unusable'),
    );
  return rows[0];
}
