import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { countAccountAttempt, countAttempt } from '../attempts.ts';
import { countRecoveryCodes, listMethodRows } from '../methods/methods.store.ts';
import { notifyMethodChanged } from '../notify.ts';
import { passkeyAccount, secondFactorOptions } from '../passkeys/passkeys.ts';
import {
  type ChallengeDraft,
  type ChallengeRow,
  endChallenge,
  insertChallenge,
  tryChallenge,
} from './challenges.store.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { useTotp } from './totp.ts';

/** Proof of the second factor. */
export type Proof =
  | { method: 'totp' | 'recovery-code'; code: string }
  | { method: 'passkey'; response: AuthenticationResponseJSON };

/** 401 `AUTH_2FA_REQUIRED` with a challenge when the account has a second factor; it sets no cookie and has no token. */
export async function requireSecondFactor(
  call: Call,
  draft: Omit<ChallengeDraft, 'clientId' | 'passkeyChallenge'>,
): Promise<ApiError | undefined> {
  const { db, client } = call;
  const rows = await listMethodRows(db, draft.accountId);
  const totp = rows.some(({ kind }) => kind === 'totp');
  const passkey = secondFactorOptions(call, rows);
  if (!totp && !passkey) return undefined;
  const codes = await countRecoveryCodes(db, draft.accountId);
  const { token, expiresAt } = await insertChallenge(db, {
    ...draft,
    clientId: client.id,
    passkeyChallenge: passkey?.challenge,
  });
  return new ApiError('AUTH_2FA_REQUIRED', 'A second factor is needed', {
    challenge: token,
    methods: [...(totp ? ['totp'] : []), ...(codes > 0 ? ['recovery-code'] : []), ...(passkey ? ['passkey'] : [])],
    ...(passkey && { passkey }),
    expiresAt: iso(expiresAt),
  });
}

export interface Answered {
  challenge: string;
  proof: Proof;
  sessionId?: string | undefined;
}

/**
 * Runs `then` after verifying the second factor, in the transaction that uses the challenge and the code up. A wrong code is 401
 * with the attempts left; an ended challenge is 401 `AUTH_TOKEN_INVALID`.
 */
export async function withSecondFactor<T>(
  call: Call,
  { challenge, proof, sessionId }: Answered,
  then: (call: Call, row: ChallengeRow) => Promise<T>,
): Promise<T> {
  const row = await tryChallenge(call.db, challenge, { clientId: call.client.id, sessionId });
  if (!row) throw await noChallenge(call, sessionId);
  await countAccountAttempt(call, 'two-factor', row.account_id);
  const done = await call.transact(async (inside) => {
    if (!(await proved(inside, row, proof))) return undefined;
    if (!(await endChallenge(inside.db, challenge))) throw over();
    return { value: await then(inside, row) };
  });
  if (done) return done.value;
  if (sessionId === undefined) await noteFailure(call, row.account_id, { method: proof.method });
  throw new ApiError('UNAUTHENTICATED', 'The code is wrong', { triesLeft: row.tries });
}

/** Counts an anonymous guess at a challenge; a guess within a session was counted for its account. */
async function noChallenge(call: Call, sessionId: string | undefined): Promise<ApiError> {
  if (sessionId === undefined) await countAttempt(call, 'two-factor');
  return over();
}

/** Audits a failed sign-in, without an account when the name is unknown. */
export async function noteFailure(call: Call, accountId: string | undefined, details: object): Promise<void> {
  await audit({ ...call, who: { ...call.who, accountId: accountId ?? '' } }, 'sign-in-failed', details);
}

async function proved(call: Call, row: ChallengeRow, proof: Proof): Promise<boolean> {
  const { db, deps, now } = call;
  if (proof.method === 'passkey') {
    if (!row.passkey_challenge) return false;
    const asserted = { response: proof.response, challenge: row.passkey_challenge, alone: false };
    return (await passkeyAccount(call, asserted)) === row.account_id;
  }
  if (proof.method === 'recovery-code') return provedByRecovery(call, row.account_id, proof.code);
  return useTotp(db, { keys: deps.keys, now, accountId: row.account_id }, proof.code);
}

/** Notifies the account when the last recovery code was used. */
async function provedByRecovery(call: Call, accountId: string, code: string): Promise<boolean> {
  if (!(await useRecoveryCode(call.db, accountId, code))) return false;
  if ((await countRecoveryCodes(call.db, accountId)) === 0)
    await notifyMethodChanged({ ...call, who: { ...call.who, accountId } }, 'recovery-codes');
  return true;
}

function over(): ApiError {
  return new ApiError('AUTH_TOKEN_INVALID', 'The challenge has ended: sign in again', {});
}
