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
  summary: 'Sign in with a name and a password',
  access: { anyone: true, because: 'this is how one signs in' },
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
  summary: 'Trade a refresh token for a new pair',
  access: { anyone: true, because: 'the refresh token is the credential' },
  body: Refresh,
  optionalBody: true,
  answer: json(200, SignIn),
  errors: ['AUTH_TOKEN_EXPIRED', 'AUTH_TOKEN_INVALID', 'FORBIDDEN'], // a cookie without X-Client-Id
  transaction: 'manual',

  async handle({ body }, call) {
    return refresh(call, body.refreshToken);
  },
});

export const logout = defineEndpoint({
  operationId: 'logout',
  method: 'post',
  path: '/auth/logout',
  summary: 'End the session of the credential presented',
  access: { anyone: true, because: 'whoever presents an expired credential may still end its session' },
  body: Logout,
  optionalBody: true,
  answer: json(200, LoggedOut),
  errors: ['FORBIDDEN'],

  async handle({ body }, call) {
    const token = bearer(call.headers);
    if (token?.startsWith('foyer_'))
      throw new ApiError('FORBIDDEN', 'A key is ended in API keys', { by: 'credential' });
    if (!token && !body.refreshToken && hasCookies(call)) requireClientId(call.client);
    const sessionId = await sessionPresented(call, body.refreshToken);
    clearCookies(call);
    if (sessionId === undefined) return { ended: false };
    const providerUrl = await endSessionAddress(call, sessionId);
    const ended = await removeSession(call.db, { id: sessionId });
    return { ended, ...(providerUrl !== undefined && { providerUrl }) };
  },
});

/** Cookies of others at the same address are no credential. */
const hasCookies = ({ headers, client }: Call): boolean =>
  [sessionCookie(client.secure), refreshCookie(client.secure)].some((name) => cookieValue(headers, name) !== undefined);

/** By access token, however old, or by refresh token. A bearer is judged alone, as everywhere. */
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
  summary: 'Who I am and what this credential may do',
  access: { signedIn: true },
  anyHour: true,
  answer: json(200, Me),

  async handle(_input, call) {
    const me = await readMe(call);
    const { lastSeenAt: _use, ...account } = me.account; // that it is used is no other content
    answerUnlessSame(call, { ...me, account });
    return me;
  },
});

/** Of the account all sign-ins are the main profile's to see and end; another profile has its own. */
const onlyProfile = ({ mainProfile, profileId }: Principal): string | undefined =>
  mainProfile ? undefined : profileId;

export const listSessions = defineEndpoint({
  operationId: 'listSessions',
  method: 'get',
  path: '/auth/sessions',
  summary: 'My sign-ins',
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
  summary: 'End one of my sign-ins',
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

/** Repeating it within a day is no error. */
const endedLately = (db: Call['db'], accountId: string, id: string): Promise<boolean> =>
  isAudited(db, { id, accountId, action: 'session-ended', sinceHours: 24 });

export const endOtherSessions = defineEndpoint({
  operationId: 'endOtherSessions',
  method: 'delete',
  path: '/auth/sessions',
  summary: 'End my other sign-ins',
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
  summary: 'Set a new password with a one-time token, or only check the token',
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
