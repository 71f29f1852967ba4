import { getAccount } from '#areas/users/public.ts';
import { ACCESS_SECONDS, refreshCookie, sessionCookie, signAccessToken } from '#kernel/credentials.ts';
import { deviceFor } from '#kernel/devices.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { Keep, SessionRecord, SignIn } from './auth.schemas.ts';
import { type Issued, insertRefreshToken } from './refresh-tokens.store.ts';
import { findSessionRow, insertSession, listProfiles, REFRESH_DAYS, toSession } from './sessions.store.ts';

interface Start {
  accountId: string;
  method: SessionRecord['method'];
  keep: Keep;
  remember: boolean;
  profileId?: string | undefined;
}

/** A new sign-in for an account that has proved itself: session, tokens, and cookies where wished. */
export async function startSession(call: Call, start: Start): Promise<SignIn> {
  const { db, client, deps } = call;
  const deviceId = await deviceFor(db, start.accountId, client);
  await refuseBlocked(call, deviceId);
  const profileId = await profileFor(call, start, deviceId);
  const sessionId = await insertSession(db, {
    accountId: start.accountId,
    profileId,
    deviceId,
    client,
    method: start.method,
    cookie: start.keep !== 'token',
    remember: start.remember,
    sessionMaxDays: deps.settings.get('auth.sessionMaxDays'),
  });
  await db('accounts').where({ id: start.accountId }).update({ last_seen_at: new Date() });
  await db('profiles').where({ id: profileId }).update({ last_used_at: new Date() });
  return answerWithTokens(call, { sessionId, refresh: await insertRefreshToken(db, sessionId, 1), keep: start.keep });
}

async function refuseBlocked({ db }: Call, deviceId: string | undefined): Promise<void> {
  if (!deviceId) return;
  const device = await db('devices').where({ id: deviceId }).first<{ state: string }>('state');
  if (device.state === 'blocked') throw new ApiError('FORBIDDEN', 'This device is blocked', { by: 'device-blocked' });
}

/** The one asked for or last used on the device when it has no PIN, else the main one. */
async function profileFor({ db }: Call, start: Start, deviceId: string | undefined): Promise<string> {
  const profiles = await db('profiles')
    .where({ account_id: start.accountId })
    .select<{ id: string; main: boolean; pin_hash: string | null }[]>('id', 'main', 'pin_hash');
  const device = deviceId
    ? await db('devices').where({ id: deviceId }).first<{ last_profile_id: string | null }>('last_profile_id')
    : undefined;
  const wanted = start.profileId ?? device?.last_profile_id;
  const open = profiles.find((profile) => profile.id === wanted && profile.pin_hash === null);
  const chosen = open ?? profiles.find((profile) => profile.main);
  if (!chosen) throw new Error('an account has a main profile');
  return chosen.id;
}

interface Pair {
  sessionId: string;
  refresh: Issued;
  keep: Keep;
}

/** The answer of every way to sign in and of a refresh. */
export async function answerWithTokens(call: Call, { sessionId, refresh, keep }: Pair): Promise<SignIn> {
  const { db, deps, now } = call;
  const row = await findSessionRow(db, sessionId);
  if (!row) throw new ApiError('AUTH_TOKEN_INVALID', 'The sign-in has ended', {});
  const claims = { accountId: row.account_id, profileId: row.profile_id, sessionId };
  const accessToken = await signAccessToken(deps.keys, claims, now);
  const profiles = await listProfiles(db, row.account_id, { limits: false });
  const profile = profiles.find((one) => one.id === row.profile_id);
  if (!profile) throw new Error('a session has a profile');
  const { must_change_password: mustChangePassword } = await db('accounts')
    .where({ id: row.account_id })
    .first<{ must_change_password: boolean }>('must_change_password');
  const remember = (row as { remember?: boolean }).remember ?? true;
  if (keep !== 'token') setCookies(call, { accessToken, refreshToken: refresh.token, remember });
  return {
    session: toSession(row, sessionId),
    account: await getAccount(db, row.account_id),
    profile,
    tokenType: 'Bearer',
    ...(keep === 'cookie' ? {} : { accessToken, refreshToken: refresh.token }),
    expiresInSec: ACCESS_SECONDS,
    refreshExpiresAt: iso(refresh.expiresAt),
    mustChangePassword,
    mustAddTwoFactor: false,
  };
}

interface Cookies {
  accessToken: string;
  refreshToken: string;
  remember: boolean;
}

/** Both cookies live as long as the refresh token: the token inside the first expires by itself. */
function setCookies({ client, reply }: Call, { accessToken, refreshToken, remember }: Cookies): void {
  const age = remember ? `; Max-Age=${REFRESH_DAYS * 86_400}` : '';
  const flags = `HttpOnly; SameSite=Lax${client.secure ? '; Secure' : ''}${age}`;
  reply.header('Set-Cookie', [
    `${sessionCookie(client.secure)}=${accessToken}; Path=/; ${flags}`,
    `${refreshCookie(client.secure)}=${refreshToken}; Path=/api/v1/auth; ${flags}`,
  ]);
}

export function clearCookies({ client, reply }: Call): void {
  const flags = `HttpOnly; SameSite=Lax${client.secure ? '; Secure' : ''}; Max-Age=0`;
  reply.header('Set-Cookie', [
    `${sessionCookie(client.secure)}=; Path=/; ${flags}`,
    `${refreshCookie(client.secure)}=; Path=/api/v1/auth; ${flags}`,
  ]);
}
