import { trimKeys } from '#areas/api-keys/api-keys.store.ts';
import { REPLAYED, SUPERSEDED } from '#areas/events/public.ts';
import type { Db } from '#platform/db.ts';
import { volatileEvents } from '#platform/events.ts';
import type { Work } from './work.ts';

/** Deletes expired sessions, and refresh tokens that can no longer be used. */
export async function expireSessions(_payload: unknown, { db }: Work): Promise<void> {
  await db.raw('delete from sessions where expires_at < now()');
  await db.raw(`delete from sessions s where not exists (
    select from refresh_tokens t where t.session_id = s.id and t.used_at is null and t.expires_at > now())
    and s.created_at < now() - interval '1 day'`);
  await db.raw(`delete from refresh_tokens where expires_at < now() - interval '1 day'`);
  await db.raw(`delete from idempotency_keys where created_at < now() - interval '24 hours'`);
  await db.raw(`delete from audit_log where at < now() - interval '365 days'`);
  await db.raw(`delete from setting_changes where at < now() - interval '400 days'`);
  await db.raw(`delete from devices where last_seen_at < now() - interval '180 days'`);
}

/** Deletes API keys that ended 30 days ago. */
export async function expireKeys(_payload: unknown, { db }: Work): Promise<void> {
  await trimKeys(db);
}

/**
 * The last 1,000 events can be replayed; the table keeps only those, plus a margin between two runs. Progress events do
 * not count: of each scan and session the newest is kept.
 */
export async function trimEvents(_payload: unknown, { db }: Work): Promise<void> {
  await db.raw(
    `delete from events where number < (select number from events where event <> all(?::text[]) order by number desc offset ? limit 1)`,
    [volatileEvents, REPLAYED - 1],
  );
  await db.raw(
    `delete from events where number in (select number from (
       select number, row_number() over (order by number desc) as place from (
         select number, event, row_number() over (partition by coalesce(payload->>'scanId', payload->>'sessionId') order by number desc) as newer
         from events where coalesce(payload->>'scanId', payload->>'sessionId') is not null) progress
       where newer > 1 and event = any(?::text[])) superseded where place > ?)`,
    [volatileEvents, SUPERSEDED],
  );
  await db.raw(`delete from rights_told where at < (select coalesce(min(at), now()) from events) - interval '1 day'`);
}

/** Ended sessions and their history stay; deletes rows that no response shows any more. */
export async function trimPlayback(_payload: unknown, { db }: Work): Promise<void> {
  await db.raw(`delete from playback_sessions where stopped_at < now() - interval '30 days'`);
  await db.raw(`delete from transcode_sessions where purged_at < now() - interval '1 day'`);
  await db.raw(`delete from playback_synced where at < now() - interval '90 days'`);
  await trimJobs(db);
}

const MOST_JOBS = 1_000_000;

/**
 * Deletes ended jobs after 7 days, failed ones after 30, and the oldest beyond a million rows; children with their
 * parent.
 */
export async function trimJobs(db: Db, most = MOST_JOBS): Promise<void> {
  await db.raw(
    `delete from jobs where parent_id is null and finished_at < now() - case when state = 'failed' then interval '30 days' else interval '7 days' end`,
  );
  await db.raw(
    `delete from jobs where id in (select id from jobs where parent_id is null and finished_at is not null
       order by finished_at desc offset ?)`,
    [most],
  );
}
