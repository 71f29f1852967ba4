import { getAccount, updateAccount, updateProfile } from '#areas/accounts/public.ts';
import { ACCESS_SECONDS, refreshCookie, sessionCookie, signAccessToken } from '#identity/credentials.ts';
import { deviceFor, updateDeviceRow } from '#identity/devices.ts';
import { effectivePermissions } from '#identity/permissions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { existing } from '#platform/db.ts';
import type { Keep, SessionRecord, SignIn } from '../auth.schemas.ts';
import { notifyNewDevice } from '../notify.ts';
import { type Issued, insertRefreshToken } from './refresh-tokens.store.ts';
import {
  findSessionRow,
  insertSession,
  listProfiles,
  type OidcSession,
  REFRESH_DAYS,
  toSession,
} from './sessions.store.ts';

interface Start {
  accountId: string;
  method: SessionRecord['method'];
  keep: Keep;
  remember: boolean;
  profileId?: string | undefined;
  /** A second factor was verified too. */
  twoFactor?: boolean;
  /** The sign-in confirms the session; a quick connect does not. */
  confirmed?: boolean;
  /** A person who may enter `profileId` approved it, so no PIN is required. */
  profileApproved?: boolean;
  oidc?: OidcSession | undefined;
}

/** Starts a session for an authenticated account: with tokens, and with cookies by `keep`. */
export async function startSession(call: Call, start: Start): Promise<SignIn> {
  const { db, client, deps } = call;
  if (start.method !== 'invite') await notifyNewDevice(call, start.accountId);
  await refuseNewDevice(call, start.accountId);
  const deviceId = await deviceFor(db, start.accountId, client);
  await refuseBlocked(call, deviceId);
  const profileId = await profileFor(call, start, deviceId);
  const sessionId = await insertSession(db, {
    accountId: start.accountId,
    profileId,
    deviceId,
    client,
    method: start.method,
    twoFactor: start.twoFactor ?? false,
    confirmed: start.confirmed ?? true,
    cookie: start.keep !== 'token',
    remember: start.remember,
    sessionMaxDays: deps.settings.get('auth.sessionMaxDays'),
    oidc: start.oidc,
  });
  await updateAccount(db, { id: start.accountId }, { last_seen_at: new Date() });
  await updateProfile(db, { id: profileId }, { last_used_at: new Date() });
  if (deviceId) await updateDeviceRow(db, { id: deviceId }, { last_profile_id: profileId });
  const who = { ...call.who, accountId: start.accountId, ...(deviceId && { deviceId }) };
  await audit({ ...call, who }, 'sign-in', { method: start.method, twoFactor: start.twoFactor ?? false });
  return answerWithTokens(call, { sessionId, refresh: await insertRefreshToken(db, sessionId, 1), keep: start.keep });
}

/** 403 for a new device over the limit `devices` of the account; known devices may always sign in. */
async function refuseNewDevice({ db, client }: Call, accountId: string): Promise<void> {
  if (!client.id) return;
  const row = await db('accounts')
    .where({ id: accountId })
    .forUpdate() // concurrent new devices are counted one after another
    .first<{ most: number | null }>(db.raw(`(limits ->> 'devices')::int as most`));
  if (row.most === null) return;
  const known = await db('devices').where({ account_id: accountId }).select('client_id');
  if (known.length < row.most || known.some((device) => device.client_id === client.id)) return;
  throw new ApiError('FORBIDDEN', `This account has ${row.most} devices already`, { by: 'device-limit' });
}

async function refuseBlocked({ db }: Call, deviceId: string | undefined): Promise<void> {
  if (!deviceId) return;
  const device = existing(await db('devices').where({ id: deviceId }).first('state'));
  if (device.state === 'blocked') throw new ApiError('FORBIDDEN', 'This device is blocked', { by: 'device-blocked' });
}

/** The requested profile, or the one last used on the device, if it has no PIN; else the main one. */
async function profileFor({ db }: Call, start: Start, deviceId: string | undefined): Promise<string> {
  const profiles = await db('profiles').where({ account_id: start.accountId }).select('id', 'main', 'pin_hash');
  const device = deviceId ? await db('devices').where({ id: deviceId }).first('last_profile_id') : undefined;
  const wanted = start.profileId ?? device?.last_profile_id;
  const open = profiles.find(({ id, pin_hash: pin }) => id === wanted && (pin === null || start.profileApproved));
  const chosen = open ?? profiles.find((profile) => profile.main);
  if (!chosen) throw new Error('an account has a main profile');
  return chosen.id;
}

interface Pair {
  sessionId: string;
  refresh: Issued;
  keep: Keep;
}

/** The response of every sign-in method and of a refresh. */
export async function answerWithTokens(call: Call, { sessionId, refresh, keep }: Pair): Promise<SignIn> {
  const { described, remember, accessToken } = await freshToken(call, sessionId);
  if (keep !== 'token') setCookies(call, { accessToken, refreshToken: refresh.token, remember });
  return {
    ...described,
    ...(keep === 'cookie' ? {} : { accessToken, refreshToken: refresh.token }),
    expiresInSec: ACCESS_SECONDS,
    refreshExpiresAt: iso(refresh.expiresAt),
  };
}

type Described = Omit<SignIn, 'accessToken' | 'refreshToken' | 'expiresInSec' | 'refreshExpiresAt'>;

interface Fresh {
  /** Session, account and pending duties, without tokens. */
  described: Described;
  accessToken: string;
  /** The session uses cookies. */
  cookie: boolean;
  remember: boolean;
}

/** Issues an access token of a session for its profile. Throws AUTH_TOKEN_INVALID when the session has ended. */
export async function freshToken(call: Call, sessionId: string): Promise<Fresh> {
  const { db, deps, now } = call;
  const row = await findSessionRow(db, sessionId);
  if (!row) throw new ApiError('AUTH_TOKEN_INVALID', 'The sign-in has ended', {});
  const profiles = await listProfiles(db, row.account_id, { limits: false });
  const profile = profiles.find((one) => one.id === row.profile_id);
  if (!profile) throw new Error('a session has a profile');
  const owes = existing(
    await db('accounts')
      .where({ id: row.account_id })
      .first('must_change_password', 'role', 'factors', 'own_permissions'),
  );
  const claims = { accountId: row.account_id, profileId: row.profile_id, sessionId };
  const managedSettings = profile.main && effectivePermissions(owes.role, owes.own_permissions).has('settings:manage');
  return {
    described: {
      session: toSession(row, sessionId),
      account: await getAccount(db, row.account_id),
      profile,
      tokenType: 'Bearer',
      mustChangePassword: owes.must_change_password,
      mustAddTwoFactor: owesSecondFactor(call, owes),
    },
    accessToken: await signAccessToken(deps.keys, { ...claims, managedSettings }, now),
    cookie: row.cookie,
    remember: row.remember,
  };
}

interface Owes {
  role: string;
  factors: string[];
}

/** Whether the role requires a second factor that the account lacks. */
export function owesSecondFactor({ deps }: Call, { role, factors }: Owes): boolean {
  const required: readonly string[] = deps.settings.get('auth.twoFactor.requiredRoles');
  return required.includes(role) && !factors.includes('totp') && !factors.includes('passkey');
}

interface Cookies {
  accessToken: string;
  refreshToken: string;
  remember: boolean;
}

/** Both cookies last as long as the refresh token; the access token inside the first expires earlier. */
function setCookies({ client, reply }: Call, { accessToken, refreshToken, remember }: Cookies): void {
  const flags = cookieFlags(client.secure, remember);
  reply.header('Set-Cookie', [
    `${sessionCookie(client.secure)}=${accessToken}; Path=/; ${flags}`,
    `${refreshCookie(client.secure)}=${refreshToken}; Path=/api/v1/auth; ${flags}`,
  ]);
}

export function cookieFlags(secure: boolean, remember: boolean): string {
  const age = remember ? `; Max-Age=${REFRESH_DAYS * 86_400}` : '';
  return `HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${age}`;
}

export function clearCookies({ client, reply }: Call): void {
  const flags = `HttpOnly; SameSite=Lax${client.secure ? '; Secure' : ''}; Max-Age=0`;
  reply.header('Set-Cookie', [
    `${sessionCookie(client.secure)}=; Path=/; ${flags}`,
    `${refreshCookie(client.secure)}=; Path=/api/v1/auth; ${flags}`,
  ]);
}
