import { setTimeout as sleep } from 'node:timers/promises';
import { stopTranscodeSessions } from '#areas/streaming/public.ts';
import { stopSession } from '#areas/viewing/public.ts';
import { ACCOUNT_JSON, type AccountRow, hoursOf } from '#identity/account-row.ts';
import { mayWatch } from '#identity/viewing-hours.ts';
import type { Db } from '#platform/db.ts';
import { listen } from '#platform/listen.ts';
import { type Lost, lostAccess } from './lost-access.ts';
import type { WorkerDeps } from './work.ts';

const EVERY_MS = 15_000;
/** One sweep for all rights that change together. */
const GATHER_MS = 300;
/** Notified by triggers of the tables that decide rights. */
const RIGHTS_CHANNEL = 'foyer_rights';

/** An expired account counts as disabled. */
const gone = '(a.disabled or coalesce(a.expires_at <= now(), false))';

/** Sessions without reports and fetched bytes for too long, or whose account may not continue. */
const DUE = `
  select s.id, case when ${gone} then 'limit' else 'timeout' end as reason
  from playback_sessions s join accounts a on a.id = s.account_id
  where s.state <> 'stopped' and (${gone}
    or greatest(s.last_report_at, s.last_bytes_at, ?::timestamptz) <
       now() - case when s.state = 'paused' and s.live is null then interval '30 minutes' else interval '60 seconds' end)`;

/** Sessions of profiles with viewing hours. */
const TIMED = `
  select s.id, json_build_object(${ACCOUNT_JSON}) as account
  from playback_sessions s join accounts a on a.id = s.account_id join profiles p on p.id = s.profile_id
  where s.state <> 'stopped' and (a.viewing_hours <> '[]' or jsonb_exists(p.limits, 'viewingHours'))`;

const GRACE_MS = 60_000;
/** The warning is sent once, by the first sweep in this interval before the end; later ones may find it sent. */
const WARNING_MS = { from: 60_000, to: 40_000 };

/** A session of a profile with viewing hours. */
interface Timed {
  id: string;
  allowed: (at: Date) => boolean;
}

async function timedSessions(db: Db, serverZone: string): Promise<Timed[]> {
  const { rows } = await db.raw<{ rows: { id: string; account: AccountRow }[] }>(TIMED);
  return rows.map(({ id, account }) => ({
    id,
    allowed: (at) => mayWatch(hoursOf(account), account.hours_zone ?? serverZone, at),
  }));
}

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** Sessions outside their hours. Their reports are refused, so a session that is due for silence may be among them. */
function outsideHours(timed: readonly Timed[], now: Date): Map<string, { over: boolean }> {
  const outside = timed.filter(({ allowed }) => !allowed(now));
  return new Map(outside.map(({ id, allowed }) => [id, { over: !allowed(later(now, -GRACE_MS)) }]));
}

/**
 * A command for sessions whose hours end within a minute, because no report after the end gets a response that could
 * carry it.
 */
async function warn(db: Db, timed: readonly Timed[], now: Date): Promise<void> {
  const { from, to } = WARNING_MS;
  const ending = timed.filter(({ allowed }) => allowed(later(now, to)) && !allowed(later(now, from)));
  if (ending.length === 0) return;
  const ids = ending.map(({ id }) => id);
  const args = { reason: 'viewing-hours', withinMs: from };
  await db('playback_sessions')
    .whereIn('id', ids)
    .whereRaw(`commands = '[]'::jsonb`)
    .update({ commands: JSON.stringify([{ command: 'message', args }]) });
}

async function dueOf(db: Db, timed: readonly Timed[], { now, heardSince }: Moment): Promise<Lost[]> {
  const lost = await lostAccess(db);
  const due = await db.raw<{ rows: Lost[] }>(DUE, [heardSince]);
  const outside = outsideHours(timed, now);
  const silent = due.rows.map(
    ({ id, reason }): Lost => ({
      id,
      reason: reason === 'timeout' && outside.has(id) ? 'viewing-hours' : reason,
    }),
  );
  const over = [...outside].filter(([, { over: ended }]) => ended);
  return [...lost, ...silent, ...over.map(([id]): Lost => ({ id, reason: 'viewing-hours' }))];
}

/** When a sweep runs. */
interface Moment {
  now: Date;
  /** Silence before this time is excused: the database was unavailable. */
  heardSince: Date;
}

/** One worker at a time sweeps; the others find the lock taken. Hours without a time zone use the server's. */
export async function sweepOnce(
  db: Db,
  serverZone = 'UTC',
  { now = new Date(), heardSince = new Date(0) }: Partial<Moment> = {},
): Promise<number> {
  return db.transaction(async (transaction) => {
    const lock = await transaction.raw<{ rows: { got: boolean }[] }>(
      `select pg_try_advisory_xact_lock(hashtext('foyer.playback-sweeper')) as got`,
    );
    if (!lock.rows[0]?.got) return 0;
    const timed = await timedSessions(transaction, serverZone);
    await warn(transaction, timed, now);
    let stopped = 0;
    for (const { id, reason } of await dueOf(transaction, timed, { now, heardSince })) {
      if (!(await stopSession(transaction, id, { reason }))) continue; // already stopped for another reason
      await stopTranscodeSessions(transaction, id);
      stopped += 1;
    }
    return stopped;
  });
}

type Deps = Pick<WorkerDeps, 'config' | 'db' | 'log' | 'settings'>;

/**
 * Every 15 seconds until aborted, and as soon as rights change. A lost database is no reason to end; sessions whose
 * reports it missed get a full minute after its return.
 */
export async function sweepPlayback(
  { config, db, log, settings }: Deps,
  signal: AbortSignal,
  everyMs = EVERY_MS,
): Promise<void> {
  let rest = new AbortController();
  const wake = (): void => rest.abort();
  const listening = listen(config.databaseUrl, { channel: RIGHTS_CHANNEL, heard: wake, connected: wake, signal });
  let heardSince = new Date();
  let failed = false;
  while (!signal.aborted) {
    rest = new AbortController();
    if (failed) heardSince = new Date();
    failed = await sweepOnce(db, settings.get('server.timeZone'), { heardSince }).then(
      () => false,
      (error: Error) => {
        log.warn({ err: error.message }, 'playback not swept');
        return true;
      },
    );
    await sleep(everyMs, undefined, { signal: AbortSignal.any([signal, rest.signal]) }).catch(() => undefined);
    await sleep(GATHER_MS, undefined, { signal }).catch(() => undefined);
  }
  await listening;
}
