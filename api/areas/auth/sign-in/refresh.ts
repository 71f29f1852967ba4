import { cookieValue, refreshCookie } from '#identity/credentials.ts';
import { requireClientId } from '#kernel/admission.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { seal, sha256, unseal } from '#platform/keys.ts';
import type { Keep, SignIn } from '../auth.schemas.ts';
import {
  findSpentToken,
  insertRefreshToken,
  keepSuccessor,
  type Spent,
  useRefreshToken,
} from './refresh-tokens.store.ts';
import { removeSession } from './sessions.store.ts';
import { answerWithTokens, clearCookies } from './sign-in.ts';

/** Exchanges a refresh token. It uses its own transactions, so that a refusal still commits the end of the session. */
export async function refresh(call: Call, given: string | undefined): Promise<SignIn> {
  const cookie = cookieValue(call.headers, refreshCookie(call.client.secure));
  const token = given ?? cookie;
  if (!token) throw refused(call, {});
  if (!given) requireClientId(call.client);
  const keep = given ? 'token' : 'cookie';
  const retryKey = retryKeyOf(call);
  const traded = await call.transact(async (inside) => trade(inside, { token, keep, retryKey }));
  if (traded) return traded;
  const spent = await findSpentToken(call.db, token);
  const repeat = spent && (await repeated(call, { spent, token, keep, retryKey }));
  if (repeat) return repeat;
  if (spent) await endReused(call, spent);
  throw refused(call, spent ? { reason: 'reused' } : {});
}

interface Presented {
  token: string;
  keep: 'token' | 'cookie';
  retryKey: string | undefined;
}

async function trade(call: Call, { token, keep, retryKey }: Presented): Promise<SignIn | undefined> {
  const { db, deps } = call;
  await refuseOtherClient(call, token);
  const used = await useRefreshToken(db, token, retryKey);
  if (!used) return undefined;
  if (used.expired) {
    clearCookies(call);
    throw new ApiError('AUTH_TOKEN_EXPIRED', 'The refresh token has expired', {});
  }
  if (used.gone) throw refused(call, {});
  const issued = await insertRefreshToken(db, used.sessionId, used.number + 1);
  if (retryKey) await keepSuccessor(db, token, seal(deps.keys, JSON.stringify(issued), placeOf(token)));
  await db('sessions').where({ id: used.sessionId }).update({ last_seen_at: new Date(), address: call.client.address });
  return answerWithTokens(call, {
    sessionId: used.sessionId,
    refresh: issued,
    keep: await keepOf(call, used.sessionId, keep),
  });
}

/** Sets the cookies again when the session has them. */
async function keepOf({ db }: Call, sessionId: string, source: Presented['keep']): Promise<Keep> {
  if (source === 'cookie') return 'cookie';
  const row = await db('sessions').where({ id: sessionId }).first('cookie');
  return row?.cookie ? 'both' : 'token';
}

const placeOf = (token: string): string => `refresh_tokens|successor_sealed|${sha256(token)}`;

/** The same key from the same client within 30 seconds repeats a request whose response was lost. */
function retryKeyOf({ headers, client }: Call): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' && client.id ? `${client.id}|${key}` : undefined;
}

async function repeated(call: Call, presented: Presented & { spent: Spent }): Promise<SignIn | undefined> {
  const { spent, token, keep, retryKey } = presented;
  if (!retryKey || spent.retry_key !== retryKey || !spent.recent || spent.successor_used || !spent.successor_sealed)
    return undefined;
  const opened = unseal(call.deps.keys, spent.successor_sealed, placeOf(token));
  if (!opened) return undefined;
  const pair = JSON.parse(opened) as { token: string; expiresAt: string };
  const issued = { token: pair.token, expiresAt: new Date(pair.expiresAt) };
  return answerWithTokens(call, {
    sessionId: spent.session_id,
    refresh: issued,
    keep: await keepOf(call, spent.session_id, keep),
  });
}

/** A session with an X-Client-Id refuses another one, without using the token up. */
async function refuseOtherClient(call: Call, token: string): Promise<void> {
  const found = await call.db.raw<{ rows: { client_id: string | null }[] }>(
    `select s.client_id from refresh_tokens t join sessions s on s.id = t.session_id where t.hash = sha256(?::bytea)`,
    [Buffer.from(token)],
  );
  const bound = found.rows[0]?.client_id;
  if (bound && bound !== call.client.id) throw refused(call, {});
}

async function endReused(call: Call, spent: Spent): Promise<void> {
  const { session_id: sessionId, account_id: accountId, device_id: deviceId } = spent;
  await removeSession(call.db, { id: sessionId });
  const who = { ...call.who, accountId, ...(deviceId && { deviceId }) };
  await audit({ ...call, who }, 'refresh-token-reused', { sessionId });
}

function refused(call: Call, details: { reason?: string }): ApiError {
  clearCookies(call);
  return new ApiError('AUTH_TOKEN_INVALID', 'The refresh token is not valid', details);
}
