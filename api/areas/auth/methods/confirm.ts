import type { z } from 'zod';
import { sessionOf } from '#identity/person.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { countAccountAttempt } from '../attempts.ts';
import { accountOfPasskey } from '../passkeys/passkeys.ts';
import { passwordMatches } from '../passwords/passwords.ts';
import { openPins } from '../passwords/pins.ts';
import { requireSecondFactor, withSecondFactor } from '../second-factor/second-factor.ts';
import type { ConfirmIdentity } from './methods.schemas.ts';
import { passwordRow } from './methods.store.ts';

type Given = z.output<typeof ConfirmIdentity>;

/** Confirms the session by a password or a second factor; a failure leaves the session unchanged. */
export async function confirm(call: Call, body: Given): Promise<{ confirmedUntil: string }> {
  const { who } = call;
  await countAccountAttempt(call, 'confirm', who.accountId);
  if (body.passkey) return confirmByPasskey(call, body.passkey, body.challenge);
  if (body.code !== undefined) return confirmByCode(call, body.code, body.challenge);
  const { password_hash: stored } = await passwordRow(call.db, who.accountId);
  if (!(await passwordMatches(stored, body.password ?? ''))) {
    throw new ApiError('UNAUTHENTICATED', 'The password or the code is wrong', {});
  }
  const secondFactor = await requireSecondFactor(call, {
    accountId: who.accountId,
    sessionId: who.sessionId,
    method: 'password',
  });
  if (secondFactor) throw secondFactor;
  return markConfirmed(call);
}

/** A code is a second factor: it is accepted only with the challenge of a right password. */
async function confirmByCode(call: Call, code: string, challenge?: string): Promise<{ confirmedUntil: string }> {
  if (!challenge) throw invalid(['body', 'challenge'], 'required', 'a code needs the challenge of the password');
  const method = /^\d{6}$/.test(code) ? 'totp' : 'recovery-code';
  const answered = { challenge, proof: { method, code } as const, sessionId: call.who.sessionId };
  return withSecondFactor(call, answered, (inside) => markConfirmed(inside));
}

/** Accepts a passkey after the password, or alone with a challenge of getSignInOptions. */
async function confirmByPasskey(
  call: Call,
  response: NonNullable<Given['passkey']>,
  challenge?: string,
): Promise<{ confirmedUntil: string }> {
  if (challenge) {
    const answered = { challenge, proof: { method: 'passkey', response } as const, sessionId: call.who.sessionId };
    return withSecondFactor(call, answered, (inside) => markConfirmed(inside));
  }
  const account = await accountOfPasskey(call, response);
  if (account !== call.who.accountId) throw new ApiError('UNAUTHENTICATED', 'The password or the code is wrong', {});
  return markConfirmed(call);
}

export async function markConfirmed({ db, who }: Call): Promise<{ confirmedUntil: string }> {
  const [row] = await db('sessions')
    .where({ id: sessionOf(who) })
    .update({ confirmed_until: db.raw(`now() + interval '10 minutes'`) })
    .returning<{ confirmed_until: Date }[]>('confirmed_until');
  if (!row) throw new ApiError('AUTH_TOKEN_INVALID', 'The sign-in has ended', {});

  await openPins(db, { account_id: who.accountId });
  return { confirmedUntil: iso(row.confirmed_until) };
}
