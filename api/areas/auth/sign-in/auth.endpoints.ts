import { z } from 'zod';
import { revokeKeys } from '#areas/api-keys/public.ts';
import { bearer, cookieValue, readAccessToken, refreshCookie, sessionCookie } from '#identity/credentials.ts';
import type { Principal } from '#identity/principal.ts';
import { requireClientId } from '#kernel/admission.ts';
import { audit, isAudited, recordAudit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { IdParams } from '#kernel/schemas.ts';
import {
  CompleteReset,
  EndSessionsQuery,
  LoggedOut,
  Login,
  Logout,
  Me,
  PasswordReset,
  Refresh,
  SessionRecord,
  SignIn,
} from '../auth.schemas.ts';
import { readMe } from '../me/me.view.ts';
import { endSessionAddress } from '../oidc/oidc-logout.ts';
import { redeemReset } from '../passwords/password-reset.ts';
import { login as signIn } from './login.ts';
import { refresh } from './refresh.ts';
import { sessionOfToken } from './refresh-tokens.store.ts';
import { endPendingSignIns, listSessionRows, removeOtherSessions, removeSession, toSession } from './sessions.store.ts';
import { clearCookies } from './sign-in.ts';

export const login = defineEndpoint({
  operationId: 'login',
  method: 'post',
  path: '/auth/login',
  summary: 'Sign in with a password or a passkey',
  description:
    'Returns a session with an access token and a refresh token, in cookies, in the body or in both by `keep`. An unknown name, a wrong password and a disabled account are the same 401. With two-factor on it is 401 `AUTH_2FA_REQUIRED` with a challenge for `verifyTwoFactor`. Attempts are limited for an address and a username.',
  access: { anyone: true, because: 'the request itself signs in' },
  body: Login,
  answer: json(200, SignIn),
  errors: ['UNAUTHENTICATED', 'AUTH_2FA_REQUIRED', 'FORBIDDEN', 'RATE_LIMITED'],
  transaction: 'manual',

  async handle({ body }, call) {
    return signIn(call, body);
  },
});

export const refreshSession = defineEndpoint({
  operationId: 'refreshSession',
  method: 'post',
  path: '/auth/refresh',
  summary: 'Exchange a refresh token for a new pair',
  description:
    'Without a body the cookie is used. A refresh token works once: a second use ends the session, unless the same `Idempotency-Key` and `X-Client-Id` repeat the request within 30 seconds, which returns the same pair. Unknown, used and ended tokens are 401 `AUTH_TOKEN_INVALID`, expired ones `AUTH_TOKEN_EXPIRED`.',
  access: { anyone: true, because: 'the refresh token is the credential' },
  body: Refresh,
  optionalBody: true,
  answer: json(200, SignIn),
  errors: ['AUTH_TOKEN_EXPIRED', 'AUTH_TOKEN_INVALID', 'FORBIDDEN'], // FORBIDDEN: a cookie without X-Client-Id
  transaction: 'manual',

  async handle({ body }, call) {
    return refresh(call, body.refreshToken);
  },
});

export const logout = defineEndpoint({
  operationId: 'logout',
  method: 'post',
  path: '/auth/logout',
  summary: 'End the session of the presented credential',
  description:
    'Accepts an expired credential too, clears the cookies, and is 200 with `ended` false when there was no session. `providerUrl` is the address to sign out at the OpenID provider, if it has one. An API key is 403.',
  access: { anyone: true, because: 'an expired credential may still end its session' },
  body: Logout,
  optionalBody: true,
  answer: json(200, LoggedOut),
  errors: ['FORBIDDEN'],

  async handle({ body }, call) {
    const token = bearer(call.headers);
    if (token?.startsWith('foyer_'))
      throw new ApiError('FORBIDDEN', 'Revoke an API key with revokeApiKey', { by: 'credential' });
    if (!token && !body.refreshToken && hasCookies(call)) requireClientId(call.client);
    const sessionId = await sessionPresented(call, body.refreshToken);
    clearCookies(call);
    if (sessionId === undefined) return { ended: false };
    const providerUrl = await endSessionAddress(call, sessionId);
    const ended = await removeSession(call.db, { id: sessionId });
    return { ended, ...(providerUrl !== undefined && { providerUrl }) };
  },
});

/** Cookies of other applications at the same address are no credential. */
const hasCookies = ({ headers, client }: Call): boolean =>
  [sessionCookie(client.secure), refreshCookie(client.secure)].some((name) => cookieValue(headers, name) !== undefined);

/** The session of the access token, expired or not, or of the refresh token. A bearer token takes precedence over cookies. */
async function sessionPresented(call: Call, refreshToken: string | undefined): Promise<string | undefined> {
  const { headers, client, deps, db } = call;
  const token = bearer(headers);
  const access = token ?? cookieValue(headers, sessionCookie(client.secure));
  const claims = access && (await readAccessToken(deps.keys, access).catch(() => undefined));
  if (claims) return claims.sessionId;
  const second = refreshToken ?? (token ? undefined : cookieValue(headers, refreshCookie(client.secure)));
  return second ? sessionOfToken(db, second) : undefined;
}

export const getMe = defineEndpoint({
  operationId: 'getMe',
  method: 'get',
  path: '/auth/me',
  summary: 'Get the account and rights of the caller',
  description:
    'Returns what an app needs at start: the account, its profiles, and the permissions that this credential has now. For an API key the permissions are the intersection with its scopes. The answer has an ETag.',
  access: { signedIn: true },
  anyHour: true,
  answer: json(200, Me),

  async handle(_input, call) {
    const me = await readMe(call);
    const { lastSeenAt: _use, ...account } = me.account; // the ETag does not depend on the last use
    answerUnlessSame(call, { ...me, account });
    return me;
  },
});

/** The main profile sees and ends all sessions of the account, another profile its own. */
const onlyProfile = ({ mainProfile, profileId }: Principal): string | undefined =>
  mainProfile ? undefined : profileId;

export const listSessions = defineEndpoint({
  operationId: 'listSessions',
  method: 'get',
  path: '/auth/sessions',
  summary: 'List the sessions of the account',
  description:
    'The main profile gets all sessions of the account, another profile its own. `lastSeenAt` is accurate to five minutes.',
  access: { person: true },
  anyHour: true,
  answer: json(200, z.object({ items: z.array(SessionRecord) })),

  async handle(_input, { db, who }) {
    const rows = await listSessionRows(db, who.accountId, onlyProfile(who));
    return { items: rows.map((row) => toSession(row, who.sessionId)) };
  },
});

export const endSession = defineEndpoint({
  operationId: 'endSession',
  method: 'delete',
  path: '/auth/sessions/:id',
  summary: 'End a session of the account',
  description:
    'The current session can be ended too. Its event streams, cast tickets and push subscriptions end with it. A session of another account is 404; repeating it within 24 hours is 204.',
  access: { person: true },
  anyHour: true,
  params: IdParams,
  answer: none(),

  async handle({ params }, { db, who }) {
    const ended = await removeSession(db, { id: params.id, accountId: who.accountId, profileId: onlyProfile(who) });
    if (!ended && !(await endedLately(db, who.accountId, params.id))) throw notFound();
    if (ended) await recordAudit(db, { id: params.id, accountId: who.accountId, action: 'session-ended' });
  },
});

/** Whether the session was ended within a day: ending it again succeeds then. */
const endedLately = (db: Call['db'], accountId: string, id: string): Promise<boolean> =>
  isAudited(db, { id, accountId, action: 'session-ended', sinceHours: 24 });

export const endOtherSessions = defineEndpoint({
  operationId: 'endOtherSessions',
  method: 'delete',
  path: '/auth/sessions',
  summary: 'End the other sessions of the account',
  description:
    'Needs the main profile. Open quick connects, challenges and reset links end too; `apiKeys` also revokes every key of the account. The current session is kept unless `keepCurrent` is false.',
  access: { person: true },
  anyHour: true,
  query: EndSessionsQuery,
  answer: json(200, z.object({ endedSessions: z.int(), revokedKeys: z.int() })),

  async handle({ query }, call) {
    const { db, who } = call;
    if (!who.mainProfile) throw new ApiError('FORBIDDEN', 'This needs the main profile', { by: 'profile' });
    const endedSessions = await removeOtherSessions(
      db,
      who.accountId,
      query.keepCurrent === 'true' ? who.sessionId : undefined,
    );
    await endPendingSignIns(db, who.accountId);
    const revokedKeys = query.apiKeys === 'true' ? await revokeKeys(call, who.accountId) : 0;
    await audit(call, 'sessions-ended', { sessions: endedSessions });
    return { endedSessions, revokedKeys };
  },
});

const RESETS_A_MINUTE = 10;

export const completePasswordReset = defineEndpoint({
  operationId: 'completePasswordReset',
  method: 'put',
  path: '/auth/password-reset',
  summary: 'Set a new password with a one-time token',
  description:
    'Without `newPassword` the token is only checked. Setting the password ends all sessions and verifies the address when the link came by mail; it does not sign in, revoke keys or turn two-factor off. Wrong, used and expired tokens are the same 404.',
  access: { anyone: true, because: 'the one-time token is the credential' },
  body: CompleteReset,
  answer: json(200, PasswordReset),
  errors: ['NOT_FOUND', 'RATE_LIMITED'],

  counts: ({ deps, client }) => {
    const limiter = { redis: deps.redis, replicas: deps.config.replicas };
    return limitAttempts(limiter, `reset:${addressGroup(client.address)}`, RESETS_A_MINUTE);
  },

  async handle({ body }, call) {
    return redeemReset(call, body.token, body.newPassword);
  },
});
