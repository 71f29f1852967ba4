import { createHash } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { SessionRecord } from '../auth.schemas.ts';
import type { OidcSession } from '../sign-in/sessions.store.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'sign_in_challenges.method': SessionRecord['method'];
    'sign_in_challenges.oidc': OidcSession;
  }
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export interface ChallengeDraft {
  accountId: string;
  /** The session to confirm; absent for a sign-in. */
  sessionId?: string | undefined;
  clientId: string | undefined;
  /** Method of the first factor. */
  method: SessionRecord['method'];
  profileId?: string | undefined;
  passkeyChallenge?: string | undefined;
  /** The session at the OpenID provider, for a sign-in there. */
  oidc?: OidcSession | undefined;
}

/** Inserts a challenge for 5 minutes and 5 attempts. */
export async function insertChallenge(db: Db, draft: ChallengeDraft): Promise<{ token: string; expiresAt: Date }> {
  const token = newSecret('');
  await db('sign_in_challenges').whereRaw('expires_at < now()').delete();
  const [row] = await db('sign_in_challenges')
    .insert({
      hash: hashOf(token),
      account_id: draft.accountId,
      session_id: draft.sessionId ?? null,
      client_id: draft.clientId ?? null,
      method: draft.method,
      profile_id: draft.profileId ?? null,
      passkey_challenge: draft.passkeyChallenge ?? null,
      oidc: draft.oidc ? JSON.stringify(draft.oidc) : null,
      expires_at: db.raw(`now() + interval '5 minutes'`),
    })
    .returning('expires_at');
  if (!row) throw new Error('no row');
  return { token, expiresAt: row.expires_at };
}

/** `tries` are the attempts left after this one. */
export type ChallengeRow = Pick<
  Row<'sign_in_challenges'>,
  'account_id' | 'session_id' | 'method' | 'profile_id' | 'passkey_challenge' | 'oidc' | 'tries'
>;

/** Counts an attempt; undefined when the challenge has ended or belongs to another client or session. */
export async function tryChallenge(
  db: Db,
  token: string,
  by: { clientId: string | undefined; sessionId?: string | undefined },
): Promise<ChallengeRow | undefined> {
  const found = await db.raw<{ rows: ChallengeRow[] }>(
    `update sign_in_challenges c set tries = c.tries - 1 from accounts a
     where c.hash = ? and c.tries > 0 and c.expires_at > now() and c.client_id is not distinct from ?
       and c.session_id is not distinct from ?::uuid and a.id = c.account_id and not a.disabled
     returning c.account_id, c.session_id, c.method, c.profile_id, c.passkey_challenge, c.oidc, c.tries`,
    [hashOf(token), by.clientId ?? null, by.sessionId ?? null],
  );
  return found.rows[0];
}

/** Ends the challenge; of concurrent requests exactly one gets true. */
export async function endChallenge(db: Db, token: string): Promise<boolean> {
  return (
    (await db('sign_in_challenges')
      .where({ hash: hashOf(token) })
      .delete()) === 1
  );
}
