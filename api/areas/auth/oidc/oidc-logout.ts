import { type JWTPayload, jwtVerify } from 'jose';
import { JOSEError, JWKSTimeout } from 'jose/errors';
import { buildEndSessionUrl } from 'openid-client';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { countAttempt } from '../attempts.ts';
import { LEEWAY_SECONDS, type Provider, providerError, providerOf } from './oidc-provider.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface LogoutToken {
  issuer: string;
  jti: string;
  subject: string | undefined;
  sid: string | undefined;
}

/** OpenID Connect Back-Channel Logout 1.0, 2.6. An invalid token counts against the address, is 400 and ends no session. */
export async function endByProvider(call: Call, token: string): Promise<void> {
  const read = await readLogout(call, token).catch(async (error: unknown) => {
    if (error instanceof ApiError && error.code === 'PROVIDER_UNAVAILABLE') throw error;
    await countAttempt(call, 'oidc-logout');
    throw invalid(['body', 'logout_token'], 'invalid_token', 'this is no logout token of the provider');
  });
  if (!(await isFirst(call.db, read))) throw invalid(['body', 'logout_token'], 'replayed', 'this token was used');
  await endSessions(call, read);
}

async function readLogout(call: Call, token: string): Promise<LogoutToken> {
  const provider = await providerOf(call.deps);
  const { payload } = await verified(call, provider, token);
  const { sub: subject, sid, jti, iat } = payload;
  const events = payload.events as Record<string, unknown> | undefined;
  const event = events?.[EVENT];
  const named = typeof subject === 'string' || typeof sid === 'string';
  const formed = typeof event === 'object' && event !== null && typeof jti === 'string' && iat !== undefined && named;
  if (!formed || 'nonce' in payload) throw new Error('not a logout token');
  return { issuer: provider.issuer, jti, subject, sid: typeof sid === 'string' ? sid : undefined };
}

async function verified(
  call: Call,
  { keys, issuer, clientId }: Provider,
  token: string,
): Promise<{ payload: JWTPayload }> {
  return jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    typ: 'logout+jwt',
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['iat', 'exp', 'jti'],
  }).catch((error: unknown) => {
    const fault = error instanceof JOSEError && !(error instanceof JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC';
    throw fault ? error : providerError('keys', error, call.deps);
  });
}

/** True on the first use of a token; its id is stored as long as a token can be valid. */
async function isFirst(db: Db, { issuer, jti }: LogoutToken): Promise<boolean> {
  await db('oidc_logouts').whereRaw(`at < now() - interval '10 minutes'`).delete();
  const rows = await db('oidc_logouts').insert({ issuer, jti }).onConflict(['issuer', 'jti']).ignore().returning('jti');
  return rows.length === 1;
}

async function endSessions(call: Call, { issuer, subject, sid }: LogoutToken): Promise<void> {
  const { db } = call;
  const by = {
    oidc_issuer: issuer,
    ...(sid === undefined ? {} : { oidc_sid: sid }),
    ...(subject === undefined ? {} : { oidc_subject: subject }),
  };
  const ended = await db('sessions').where(by).delete().returning(['id', 'account_id']);
  const open = { issuer, ...(sid === undefined ? {} : { sid }), ...(subject === undefined ? {} : { subject }) };
  await db('sign_in_challenges')
    .whereRaw('oidc @> ?::jsonb', [JSON.stringify(open)])
    .delete();
  for (const [accountId, rows] of Map.groupBy(ended, (row) => row.account_id))
    await audit({ ...call, who: { ...call.who, accountId } }, 'sessions-ended-by-provider', { sessions: rows.length });
}

/** Address that ends the session at the provider; undefined for other sign-ins and for a provider without one. */
export async function endSessionAddress(call: Call, sessionId: string): Promise<string | undefined> {
  const { db, deps } = call;
  const row = await db('sessions').where({ id: sessionId }).first('oidc_issuer');
  if (!row?.oidc_issuer) return undefined;
  const provider = await providerOf(deps).catch(() => undefined); // sign-out succeeds without the provider
  if (provider?.issuer !== row.oidc_issuer || !provider.config.serverMetadata().end_session_endpoint) return undefined;
  return buildEndSessionUrl(provider.config).href;
}
