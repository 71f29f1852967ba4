import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type Db, gathered } from '#platform/db.ts';
import type { Keys } from '#platform/keys.ts';
import { ApiError } from './errors.ts';
import { effectivePermissions, type Permission, profilePermissions, type Role } from './permissions.ts';
import type { AccountLimits, Principal, Sight } from './principal.ts';
import { effectiveRestrictions, type Restrictions } from './restrictions.ts';
import type { ViewingWindow } from './viewing-hours.ts';

export const ACCESS_SECONDS = 900;
const LEEWAY_SECONDS = 60; // skew between pods
const AUDIENCE = 'foyer-api';

/** What was presented: a bearer wins over a cookie. */
export type Presented = { kind: 'token'; text: string; cookie: boolean } | { kind: 'key'; text: string } | undefined;

export const sessionCookie = (secure: boolean): string => (secure ? '__Host-foyer_session' : 'foyer_session');
export const refreshCookie = (secure: boolean): string => (secure ? '__Secure-foyer_refresh' : 'foyer_refresh');

export function cookieValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const part of (headers.cookie ?? '').split(';')) {
    const [key, ...rest] = part.trim().split('=');
    if (key === name) return rest.join('=');
  }
  return undefined;
}

export function bearer(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

export function presented(headers: IncomingHttpHeaders, secure: boolean): Presented {
  const token = bearer(headers);
  if (token)
    return token.startsWith('foyer_') ? { kind: 'key', text: token } : { kind: 'token', text: token, cookie: false };
  const cookie = cookieValue(headers, sessionCookie(secure));
  return cookie ? { kind: 'token', text: cookie, cookie: true } : undefined;
}

export interface AccessClaims {
  accountId: string;
  profileId: string;
  sessionId: string;
}

/** JWT of 15 minutes, typ at+jwt, EdDSA; it proves nothing beyond which session to look up. */
export async function signAccessToken(keys: Keys, claims: AccessClaims, now: Date): Promise<string> {
  const [current] = keys.signing;
  if (!current) throw new Error('no signing key');
  const seconds = Math.floor(now.getTime() / 1000);
  return new SignJWT({ pid: claims.profileId, sid: claims.sessionId })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: current.kid })
    .setIssuer(keys.serverId)
    .setAudience(AUDIENCE)
    .setSubject(claims.accountId)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ACCESS_SECONDS)
    .sign(current.privateKey);
}

const verified = new Map<string, JWTPayload>(); // a signature once found good stays good; expiry is judged each time
const REMEMBERED = 5000;

async function verifiedPayload(keys: Keys, token: string): Promise<JWTPayload> {
  const known = verified.get(token);
  if (known) return known;
  const { payload } = await jwtVerify(
    token,
    (header) => {
      const key = keys.signing.find(({ kid }) => kid === header.kid);
      if (!key) throw new Error('unknown kid');
      return key.publicKey;
    },
    {
      algorithms: ['EdDSA'],
      typ: 'at+jwt',
      issuer: keys.serverId,
      audience: AUDIENCE,
      currentDate: new Date(0), // expiry is judged by the database's clock
    },
  );
  if (verified.size >= REMEMBERED) verified.clear();
  verified.set(token, payload);
  return payload;
}

/** Throws AUTH_TOKEN_INVALID for anything that is not an access token of this server. */
export async function readAccessToken(keys: Keys, token: string): Promise<AccessClaims & { expiresAt: number }> {
  try {
    const payload = await verifiedPayload(keys, token);
    return {
      accountId: String(payload.sub),
      profileId: String(payload.pid),
      sessionId: String(payload.sid),
      expiresAt: payload.exp ?? 0,
    };
  } catch {
    throw invalidToken();
  }
}

function invalidToken(): ApiError {
  return new ApiError('AUTH_TOKEN_INVALID', 'The credential is not valid', {});
}

interface AccountRow {
  account_id: string;
  role: Role;
  own_permissions: Partial<Record<Permission, boolean>>;
  library_mode: 'default' | 'only';
  age_limit: number | null;
  hide_unrated: boolean;
  viewing_hours: ViewingWindow[];
  time_zone: string | null;
  language: string | null;
  limits: AccountLimits;
  restrictions: Partial<Restrictions>;
  must_change_password: boolean;
  gone: boolean;
  profile_id: string;
  main: boolean;
  profile_limits: {
    ageLimit?: number;
    hideUnrated?: boolean;
    libraryIds?: string[];
    viewingHours?: ViewingWindow[];
  } | null;
  profile_zone: string | null;
  now_s: number;
}

const ACCOUNT = `'account_id', a.id, 'role', a.role, 'own_permissions', a.own_permissions, 'library_mode', a.library_mode,
  'age_limit', a.age_limit, 'hide_unrated', a.hide_unrated, 'viewing_hours', a.viewing_hours, 'time_zone', a.time_zone,
  'language', a.language, 'limits', a.limits, 'restrictions', a.restrictions, 'must_change_password', a.must_change_password,
  'gone', a.disabled or coalesce(a.expires_at < now(), false), 'profile_id', p.id, 'main', p.main,
  'profile_limits', p.limits, 'profile_zone', p.time_zone, 'now_s', extract(epoch from now())::float8`;

const bySession = gathered<SessionRow>({
  name: 'principal-by-session',
  text: `select s.id as key, json_build_object(${ACCOUNT}, 'session_id', s.id, 'device_id', s.device_id,
      'confirmed_until', s.confirmed_until, 'ended', s.expires_at < now(), 'device_state', d.state) as row
    from sessions s join accounts a on a.id = s.account_id join profiles p on p.id = s.profile_id
      left join devices d on d.id = s.device_id
    where s.id = any($1::uuid[])`,
});

const KEY = `json_build_object(${ACCOUNT}, 'key_id', k.id, 'scopes', k.scopes,
      'per_minute', k.per_minute, 'operator', k.operator, 'revoked_at', k.revoked_at, 'ended', k.expires_at < now())`;

const byKey = gathered<KeyRow>({
  name: 'principal-by-key',
  text: `select encode(k.hash, 'hex') as key, ${KEY} as row
    from unnest($1::text[]) as asked(hash) join api_keys k on k.hash = decode(asked.hash, 'hex')
      join accounts a on a.id = k.account_id
      join profiles p on p.account_id = a.id and (p.id = k.profile_id or k.profile_id is null and p.main)`,
});

/** A principal, and what the pipeline still has to judge of it. */
export interface Identified {
  who: Principal;
  viewingHours: readonly ViewingWindow[];
  timeZone: string;
  mustChangePassword: boolean;
  /** Requests a minute of an API key. */
  perMinute?: number;
}

/** Read from Postgres at each request, by primary key: an ended session, a new role or a revoked key counts from this request on. */
export async function identify(db: Db, keys: Keys, credential: NonNullable<Presented>): Promise<Identified> {
  return credential.kind === 'key' ? identifyKey(db, credential.text) : identifySession(db, keys, credential.text);
}

type SessionRow = AccountRow & {
  session_id: string;
  device_id: string | null;
  confirmed_until: string | null;
  ended: boolean;
  device_state: string | null;
};

async function identifySession(db: Db, keys: Keys, token: string): Promise<Identified> {
  const claims = await readAccessToken(keys, token);
  const row = await bySession(db, claims.sessionId);
  if (!row || row.ended || row.gone || row.account_id !== claims.accountId) throw invalidToken();
  const stale = row.now_s > claims.expiresAt + LEEWAY_SECONDS || row.profile_id !== claims.profileId;
  if (stale) throw new ApiError('AUTH_TOKEN_EXPIRED', 'The access token has expired', {});
  if (row.device_state === 'blocked') throw invalidToken();
  return bySessionRow(row);
}

function bySessionRow(row: SessionRow): Identified {
  return identified(row, {
    ...base(row),
    kind: 'session',
    sessionId: row.session_id,
    ...(row.device_id ? { deviceId: row.device_id } : {}),
    ...(row.confirmed_until ? { confirmedUntil: new Date(row.confirmed_until) } : {}),
  });
}

type KeyRow = AccountRow & {
  key_id: string;
  scopes: Permission[];
  per_minute: number;
  operator: boolean;
  revoked_at: string | null;
  ended: boolean | null;
};

async function identifyKey(db: Db, text: string): Promise<Identified> {
  const row = await byKey(db, createHash('sha256').update(text).digest('hex'));
  if (!row || row.revoked_at || row.gone) throw invalidToken();
  if (row.ended) throw new ApiError('AUTH_TOKEN_EXPIRED', 'The API key has expired', {});
  return byKeyRow(row);
}

const byKeyId = gathered<KeyRow>({
  name: 'principal-by-key-id',
  text: `select k.id::text as key, ${KEY} as row from api_keys k join accounts a on a.id = k.account_id
      join profiles p on p.account_id = a.id and (p.id = k.profile_id or k.profile_id is null and p.main)
    where k.id = any($1::uuid[])`,
});

/** What a credential that was judged before may do now, for what stays open; undefined when it is over, or speaks for another profile. */
export async function identifyAgain(db: Db, who: Principal): Promise<Identified | undefined> {
  const row = who.keyId ? await byKeyId(db, who.keyId) : await bySession(db, who.sessionId ?? '');
  if (!row || row.ended || row.gone) return undefined;
  if ('key_id' in row) return row.revoked_at ? undefined : byKeyRow(row);
  return row.device_state === 'blocked' || row.profile_id !== who.profileId ? undefined : bySessionRow(row);
}

function byKeyRow(row: KeyRow): Identified {
  const whole = base(row);
  const scopes = new Set(row.scopes);
  const who: Principal = {
    ...whole,
    kind: 'key',
    keyId: row.key_id,
    scopes,
    operator: row.operator,
    permissions: new Set([...whole.permissions].filter((permission) => scopes.has(permission))),
  };
  return { ...identified(row, who), perMinute: row.per_minute };
}

const byAccount = gathered<AccountRow>({
  name: 'principal-by-account',
  text: `select a.id::text as key, json_build_object(${ACCOUNT}) as row
    from accounts a join profiles p on p.account_id = a.id and p.main where a.id = any($1::uuid[])`,
});

/** An account as it would come with its main profile, for what it may see and do; undefined when there is none. */
export async function principalOf(db: Db, accountId: string): Promise<Principal | undefined> {
  const row = await byAccount(db, accountId);
  return row && base(row);
}

function identified(row: AccountRow, who: Principal): Identified {
  const ranked = row.role === 'owner' || row.role === 'admin'; // admins and the owner have no hours
  return {
    who,
    viewingHours: ranked && row.main ? [] : (row.profile_limits?.viewingHours ?? (ranked ? [] : row.viewing_hours)),
    timeZone: row.profile_zone ?? row.time_zone ?? 'UTC',
    mustChangePassword: row.must_change_password,
  };
}

function base(row: AccountRow): Principal {
  const all = effectivePermissions(row.role, row.own_permissions);
  const zone = row.profile_zone ?? row.time_zone;
  return {
    kind: 'session',
    accountId: row.account_id,
    profileId: row.profile_id,
    mainProfile: row.main,
    role: row.role,
    permissions: row.main ? all : new Set([...all].filter((p) => profilePermissions.includes(p))),
    operator: false,
    sees: sight(row),
    limits: row.limits,
    restrictions: effectiveRestrictions(row.role, row.restrictions),
    ...(row.language ? { language: row.language } : {}),
    ...(zone ? { timeZone: zone } : {}),
  };
}

/** A profile with limits never sees more than its account: the smaller age, and its libraries among the account's. */
function sight(row: AccountRow): Sight {
  const ages = [row.age_limit, row.profile_limits?.ageLimit].filter((age) => age !== null && age !== undefined);
  const libraries = row.profile_limits?.libraryIds;
  return {
    // Who manages libraries sees them all, unless the account is limited to some.
    all: (row.role === 'owner' || row.role === 'admin') && row.library_mode === 'default',
    libraries: row.library_mode,
    role: row.role,
    accountId: row.account_id,
    hideUnrated: row.hide_unrated || (row.profile_limits?.hideUnrated ?? false),
    ...(ages.length > 0 ? { ageLimit: Math.min(...ages) } : {}),
    ...(libraries ? { profileLibraries: libraries } : {}),
  };
}
