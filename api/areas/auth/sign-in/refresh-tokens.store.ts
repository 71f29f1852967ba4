import { createHash } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { newSecret } from '#platform/ids.ts';
import { REFRESH_DAYS } from './sessions.store.ts';

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export interface Issued {
  token: string;
  expiresAt: Date;
}

/** 256 random bits, stored only as SHA-256. Valid for 30 days, and no longer than the session. */
export async function insertRefreshToken(db: Db, sessionId: string, number: number): Promise<Issued> {
  const token = newSecret('foyrt_');
  const [row] = await db('refresh_tokens')
    .insert({
      hash: hashOf(token),
      session_id: sessionId,
      number,
      // Never longer than the session itself.
      expires_at: db.raw('least(now() + make_interval(days => ?), (select expires_at from sessions where id = ?))', [
        REFRESH_DAYS,
        sessionId,
      ]),
    })
    .returning('expires_at');
  if (!row) throw new Error('no row');
  return { token, expiresAt: row.expires_at };
}

export interface Used {
  sessionId: string;
  number: number;
  expired: boolean;
  /** The account is disabled or expired. */
  gone: boolean;
}

/** Uses a token in one statement, so that of concurrent requests exactly one finds it unused. */
export async function useRefreshToken(db: Db, token: string, retryKey: string | undefined): Promise<Used | undefined> {
  const found = await db.raw<{ rows: Used[] }>(
    `update refresh_tokens t set used_at = now(), retry_key = ? from sessions s join accounts a on a.id = s.account_id
     where t.hash = ? and t.used_at is null and s.id = t.session_id
     returning t.session_id as "sessionId", t.number, least(t.expires_at, s.expires_at) < now() as expired,
       a.disabled or coalesce(a.expires_at < now(), false) as gone`,
    [retryKey ?? null, hashOf(token)],
  );
  return found.rows[0];
}

export interface Spent {
  session_id: string;
  account_id: string;
  device_id: string | null;
  retry_key: string | null;
  successor_sealed: string | null;
  /** Used within the last 30 seconds. */
  recent: boolean;
  /** The pair that replaced it has been used. */
  successor_used: boolean;
}

export async function findSpentToken(db: Db, token: string): Promise<Spent | undefined> {
  const found = await db.raw<{ rows: Spent[] }>(
    `select t.session_id, s.account_id, s.device_id, t.retry_key, t.successor_sealed, t.used_at > now() - interval '30 seconds' as recent,
       exists (select 1 from refresh_tokens n where n.session_id = t.session_id and n.number > t.number and n.used_at is not null) as successor_used
     from refresh_tokens t join sessions s on s.id = t.session_id where t.hash = ? and t.used_at is not null`,
    [hashOf(token)],
  );
  return found.rows[0];
}

/** The session of a refresh token, used or not, for signing out. */
export async function sessionOfToken(db: Db, token: string): Promise<string | undefined> {
  const row = await db('refresh_tokens')
    .where({ hash: hashOf(token) })
    .first('session_id');
  return row?.session_id;
}

/** Stores the new pair sealed, for a client that repeats the request after a lost response. */
export async function keepSuccessor(db: Db, token: string, sealed: string): Promise<void> {
  await db('refresh_tokens')
    .where({ hash: hashOf(token) })
    .update({ successor_sealed: sealed });
}

/** Expiry of the newest refresh token of the session; `now` without one. */
export async function latestRefreshExpiry(db: Db, sessionId: string, now: Date): Promise<Date> {
  const row = await db('refresh_tokens').where({ session_id: sessionId }).orderBy('number', 'desc').first('expires_at');
  return row?.expires_at ?? now;
}
