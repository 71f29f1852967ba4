import type { Client } from '#identity/client.ts';
import { imageRefSql } from '#kernel/images.ts';
import { iso } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Profile, SessionRecord } from '../auth.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'sessions.method': SessionRecord['method'];
  }
}

export const REFRESH_DAYS = 30;
const MOST_SESSIONS = 100;

/** The session at the OpenID provider that a session here depends on. */
export interface OidcSession {
  issuer: string;
  subject: string;
  sid?: string | undefined;
}

export interface SessionDraft {
  accountId: string;
  profileId: string;
  deviceId: string | undefined;
  client: Client;
  method: SessionRecord['method'];
  twoFactor: boolean;
  confirmed: boolean;
  cookie: boolean;
  remember: boolean;
  sessionMaxDays: number;
  oidc?: OidcSession | undefined;
}

/** Inserts a session; beyond 100 the least recently used are deleted. */
export async function insertSession(db: Db, draft: SessionDraft): Promise<string> {
  const id = newId();
  await db('sessions').insert({
    id,
    account_id: draft.accountId,
    profile_id: draft.profileId,
    device_id: draft.deviceId ?? null,
    client_id: draft.client.id ?? null,
    method: draft.method,
    two_factor: draft.twoFactor,
    cookie: draft.cookie,
    remember: draft.remember,
    address: draft.client.address,
    confirmed_until: draft.confirmed ? db.raw(`now() + interval '10 minutes'`) : null,
    expires_at: db.raw('now() + make_interval(days => ?)', [draft.sessionMaxDays]),
    oidc_issuer: draft.oidc?.issuer ?? null,
    oidc_subject: draft.oidc?.subject ?? null,
    oidc_sid: draft.oidc?.sid ?? null,
  });
  await db.raw(
    `delete from sessions where id in (
       select id from sessions where account_id = ? order by last_seen_at desc offset ?)`,
    [draft.accountId, MOST_SESSIONS],
  );
  return id;
}

interface SessionRow extends Row<'sessions'> {
  device_name: string | null;
  client_name: string | null;
  platform: string | null;
}

/** Sessions of an account, or of one of its profiles, most recently used first. */
export async function listSessionRows(db: Db, accountId: string, profileId?: string): Promise<SessionRow[]> {
  const query = db('sessions as s')
    .leftJoin('devices as d', 'd.id', 's.device_id')
    .where('s.account_id', accountId)
    .whereRaw('s.expires_at > now()')
    .orderBy([{ column: 's.last_seen_at', order: 'desc' }, 's.id'])
    .select('s.*', 'd.name as device_name', 'd.client_name', 'd.platform');
  if (profileId) query.where('s.profile_id', profileId);
  return query;
}

export async function findSessionRow(db: Db, id: string): Promise<SessionRow | undefined> {
  const [row] = await db('sessions as s')
    .leftJoin('devices as d', 'd.id', 's.device_id')
    .where('s.id', id)
    .select('s.*', 'd.name as device_name', 'd.client_name', 'd.platform');
  return row;
}

/** A session, of this account and profile when they are given. */
export interface SessionOf {
  id: string;
  accountId?: string;
  profileId?: string | undefined;
}

/** Deletes a session with its refresh tokens; false when there is none of that account and profile. */
export async function removeSession(db: Db, { id, accountId, profileId }: SessionOf): Promise<boolean> {
  const query = db('sessions').where({ id });
  if (accountId) query.where({ account_id: accountId });
  if (profileId) query.where({ profile_id: profileId });
  return (await query.delete()) > 0;
}

export async function removeOtherSessions(db: Db, accountId: string, keep: string | undefined): Promise<number> {
  const query = db('sessions').where({ account_id: accountId });
  if (keep) query.whereNot({ id: keep });
  return query.delete();
}

export function toSession(row: SessionRow, currentId: string | undefined): SessionRecord {
  const device = { name: row.device_name ?? '', clientName: row.client_name, platform: row.platform };
  return {
    id: row.id,
    device: row.device_id ? { id: row.device_id, ...device } : null,
    method: row.method,
    twoFactor: row.two_factor,
    profileId: row.profile_id,
    current: row.id === currentId,
    address: row.address,
    createdAt: iso(row.created_at),
    lastSeenAt: iso(row.last_seen_at),
    expiresAt: iso(row.expires_at),
    confirmedUntil: iso(row.confirmed_until),
  };
}

interface ProfileRow extends Row<'profiles'> {
  avatar: Profile['avatar'];
}

/** Profiles of an account, the main one first. */
export async function listProfiles(db: Db, accountId: string, show: { limits: boolean }): Promise<Profile[]> {
  const rows = await db('profiles')
    .where({ account_id: accountId })
    .orderBy([{ column: 'main', order: 'desc' }, 'created_at'])
    .select<ProfileRow[]>('profiles.*', db.raw(`${imageRefSql('profiles.avatar_id')} as avatar`));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    main: row.main,
    avatar: row.avatar,
    color: row.color,
    language: row.language,
    hasPin: row.pin_hash !== null,
    timeZone: row.time_zone,
    country: row.country,
    private: row.private,
    keepHistory: row.keep_history,
    ...(show.limits && row.limits ? { limits: row.limits } : {}),
    createdAt: iso(row.created_at),
    lastUsedAt: iso(row.last_used_at),
  }));
}

/** Ends the pending sign-ins of the account: challenges, quick connects and reset links. */
export async function endPendingSignIns(db: Db, accountId: string): Promise<void> {
  await db('sign_in_challenges').where({ account_id: accountId }).delete();
  await db('quick_connects').where({ account_id: accountId }).delete();
  await db('password_resets').where({ account_id: accountId }).delete();
}

/** Ends the sessions of a device and returns their number. */
export async function endDeviceSessions(db: Db, deviceId: string): Promise<number> {
  return db('sessions').where({ device_id: deviceId }).delete();
}

/** Ends the sessions of an account and returns their number. */
export async function endSessions(db: Db, accountId: string): Promise<number> {
  return db('sessions').where({ account_id: accountId }).delete();
}
