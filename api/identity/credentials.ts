import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { ApiError } from '#kernel/errors.ts';
import { type Db, gathered } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Keys } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import { ACCOUNT_JSON, type AccountRow, hoursOf, principalOfRow } from './account-row.ts';
import type { Principal } from './principal.ts';
import type { ViewingWindow } from './viewing-hours.ts';

export const ACCESS_SECONDS = 900;
const LEEWAY_SECONDS = 60; // clock skew between pods
const AUDIENCE = 'foyer-api';

/** The presented credential; a bearer takes precedence over a cookie. */
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
  /** Claim `adm`: the account had settings:manage at issue. It is used only while Postgres is unavailable. */
  managedSettings?: boolean;
}

/** Signs a JWT for 15 minutes, typ at+jwt, EdDSA. It only identifies the session to look up. */
export async function signAccessToken(keys: Keys, claims: AccessClaims, now: Date): Promise<string> {
  const [current] = keys.signing;
  if (!current) throw new Error('no signing key');
  const seconds = Math.floor(now.getTime() / 1000);
  return new SignJWT({ pid: claims.profileId, sid: claims.sessionId, ...(claims.managedSettings && { adm: true }) })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: current.kid })
    .setIssuer(keys.serverId)
    .setAudience(AUDIENCE)
    .setSubject(claims.accountId)
    .setJti(newId())
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ACCESS_SECONDS)
    .sign(current.privateKey);
}

type SigningKey = Keys['signing'][number];

/** Verified signatures, valid while their key is in the ring; expiry is checked each time. */
const verified = new Map<string, { payload: JWTPayload; by: string }>();
const REMEMBERED = 5000;

/** The key of a token. An unknown key reloads the ring, because another process may have a newer one. */
async function signingKey(keys: Keys, wanted: string | undefined): Promise<SigningKey> {
  const find = (): SigningKey | undefined => keys.signing.find(({ kid }) => kid === wanted);
  if (!find()) await keys.refresh?.();
  const key = find();
  if (!key) throw new Error('unknown kid');
  return key;
}

async function verifiedPayload(keys: Keys, token: string): Promise<JWTPayload> {
  const known = verified.get(token);
  if (known && keys.signing.some(({ kid }) => kid === known.by)) return known.payload;
  const { payload, protectedHeader } = await jwtVerify(
    token,
    async (header) => (await signingKey(keys, header.kid)).publicKey,
    {
      algorithms: ['EdDSA'],
      typ: 'at+jwt',
      issuer: keys.serverId,
      audience: AUDIENCE,
      currentDate: new Date(0), // expiry is checked by the clock of the database
    },
  );
  if (verified.size >= REMEMBERED) verified.clear();
  verified.set(token, { payload, by: String(protectedHeader.kid) });
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

const bySession = gathered<SessionRow>({
  name: 'principal-by-session',
  text: `select s.id as key, json_build_object(${ACCOUNT_JSON}, 'session_id', s.id, 'device_id', s.device_id,
      'confirmed_until', s.confirmed_until, 'ended', s.expires_at < now(), 'device_state', d.state) as row
    from sessions s join accounts a on a.id = s.account_id join profiles p on p.id = s.profile_id
      left join devices d on d.id = s.device_id
    where s.id = any($1::uuid[])`,
});

const KEY = `json_build_object(${ACCOUNT_JSON}, 'key_id', k.id, 'scopes', k.scopes,
      'per_minute', k.per_minute, 'operator', k.operator, 'revoked_at', k.revoked_at, 'ended', k.expires_at < now())`;

const byKey = gathered<KeyRow>({
  name: 'principal-by-key',
  text: `select encode(k.hash, 'hex') as key, ${KEY} as row
    from unnest($1::text[]) as requested(hash) join api_keys k on k.hash = decode(requested.hash, 'hex')
      join accounts a on a.id = k.account_id
      join profiles p on p.account_id = a.id and (p.id = k.profile_id or k.profile_id is null and p.main)`,
});

/** A principal, and the fields that the pipeline checks afterwards. */
export interface Identified {
  who: Principal;
  viewingHours: readonly ViewingWindow[];
  /** Time zone of the viewing hours; absent is that of the server. */
  timeZone?: string;
  mustChangePassword: boolean;
  /** The account has an authenticator app or a passkey. */
  secondFactor: boolean;
  /** Rate limit of an API key in requests a minute. */
  perMinute?: number;
}

/** Reads the credential from Postgres at each request, so that an ended session, a new role or a revoked key takes effect at once. */
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
    ...principalOfRow(row),
    kind: 'session',
    sessionId: row.session_id,
    ...(row.device_id ? { deviceId: row.device_id } : {}),
    ...(row.confirmed_until ? { confirmedUntil: new Date(row.confirmed_until) } : {}),
    confirmBy: [
      ...(row.has_password ? ['password'] : []),
      ...row.factors.filter((kind) => kind === 'passkey' || kind === 'oidc'),
    ],
  });
}

type KeyRow = AccountRow &
  Pick<Row<'api_keys'>, 'scopes' | 'per_minute' | 'operator'> & {
    key_id: string;
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

/** Identifies the credential of an open stream again; undefined when it has ended or its session is in another profile. */
export async function identifyAgain(
  db: Db,
  who: Pick<Principal, 'keyId' | 'sessionId' | 'profileId'>,
): Promise<Identified | undefined> {
  const row = who.keyId ? await byKeyId(db, who.keyId) : await bySession(db, who.sessionId ?? '');
  if (!row || row.ended || row.gone) return undefined;
  if ('key_id' in row) return row.revoked_at ? undefined : byKeyRow(row);
  return row.device_state === 'blocked' || row.profile_id !== who.profileId ? undefined : bySessionRow(row);
}

function byKeyRow(row: KeyRow): Identified {
  const whole = principalOfRow(row);
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

function identified(row: AccountRow, who: Principal): Identified {
  return {
    who,
    viewingHours: hoursOf(row),
    ...(row.hours_zone ? { timeZone: row.hours_zone } : {}),
    mustChangePassword: row.must_change_password,
    secondFactor: row.factors.includes('totp') || row.factors.includes('passkey'),
  };
}
