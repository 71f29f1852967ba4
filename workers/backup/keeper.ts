import { setTimeout as sleep } from 'node:timers/promises';
import {
  findPlace,
  GOOD,
  listPlaces,
  livePlaces,
  nameOf,
  newestGood,
  nextRun,
  type PlaceDeps,
  readBackupSettings,
  requestBackup,
  settleLost,
} from '#areas/backup/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { fullVersion } from '#areas/server/public.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { dropPutAside } from '#platform/backup/put-aside.ts';
import { type Db, existing } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Keys } from '#platform/keys.ts';
import { enqueue } from '#platform/queue.ts';
import type { WorkerDeps } from '#workers/work.ts';
import { sweepLoose } from './loose.ts';
import { asSole } from './sole.ts';

const LOOK_MS = 30_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LATE_MS = 3 * DAY_MS;

export type KeeperDeps = WorkerDeps & { keys: Keys };

/** Enqueues due backups and lists the destinations, in whichever worker is first; ends with the signal. */
export async function keepBackups(deps: KeeperDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await lookOnce(deps).catch((error: Error) => deps.log.warn({ err: error }, 'backups not looked after'));
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** One round; `now` is for tests. */
export async function lookOnce(deps: KeeperDeps, now = new Date()): Promise<void> {
  const { db } = deps;
  await settleLost(db);
  await dropReplaced(db, now);
  await enqueueBackup(deps, now);
  await enqueueVerification(deps, now);
  await notifyFailing(deps, now);
  if (await isListingDue(db, now)) await asSole(deps, () => lookAtPlaces(deps, now));
}

/** Drops databases that a restore put aside once their retention ends. */
async function dropReplaced(db: Db, now: Date): Promise<void> {
  const over = await db('backups')
    .where({ state: 'replaced', pinned: false })
    .where('keep_until', '<', now)
    .whereRaw(
      `not exists (select from jobs j where j.target ->> 'id' = backups.id::text and j.state in ('waiting', 'active'))`,
    )
    .pluck('id');
  for (const id of over) {
    await dropPutAside(db, id);
    await db('backups').where({ id }).delete();
  }
}

async function isListingDue(db: Db, now: Date): Promise<boolean> {
  const places = await livePlaces(db);
  return places.some(({ listed_at: at }) => !at || now.getTime() - at.getTime() >= HOUR_MS);
}

/** Each hour: lists the destinations and removes objects that no manifest names. */
async function lookAtPlaces(deps: PlaceDeps & Pick<KeeperDeps, 'log'>, now: Date): Promise<void> {
  if (!(await isListingDue(deps.db, now))) return; // another worker was first
  await listPlaces(deps);
  for (const place of await livePlaces(deps.db)) {
    await sweepLoose(deps, place, now.getTime()).catch((error: unknown) => {
      if (!(error instanceof DestinationUnavailable || error instanceof BackupFault)) throw error;
      deps.log.warn({ err: error }, 'objects of backups that are gone stay for now');
    });
  }
}

/** On schedule, or an hour after a failed backup. */
async function enqueueBackup(deps: KeeperDeps, now: Date): Promise<void> {
  const { db, settings } = deps;
  await db.transaction(async (transaction) => {
    const row = existing(await transaction('backup_settings').forUpdate().first());
    if (!row.enabled) return;
    const next = nextRun(row.cron, row.scheduled_at, settings.get('server.timeZone'));
    const due = next !== undefined && next <= now;
    if (!due && !(await failedBefore(transaction, now))) return;
    if (due) await transaction('backup_settings').update({ scheduled_at: now });
    await requestBackup({ ...deps, db: transaction, version: fullVersion }, { trigger: 'schedule', cause: 'schedule' });
  });
}

/** On its own schedule: verifies the newest good backup by loading it. */
async function enqueueVerification({ db, settings }: KeeperDeps, now: Date): Promise<void> {
  await db.transaction(async (transaction) => {
    const row = existing(await transaction('backup_settings').forUpdate().first());
    const next = nextRun(row.verify_cron, row.verified_at, settings.get('server.timeZone'));
    if (!row.enabled || !next || next > now) return;
    await transaction('backup_settings').update({ verified_at: now });
    const last = await newestGood(transaction);
    if (!last) return;
    await enqueue(transaction, 'backup.verify', {
      payload: { backupId: last.id, depth: 'load' },
      options: { target: { kind: 'backup', id: last.id }, key: `backup.verify:${last.id}`, cause: 'schedule' },
    });
  });
}

async function failedBefore(db: Db, now: Date): Promise<boolean> {
  const last = await db('backups')
    .whereIn('trigger', ['person', 'schedule', 'before-upgrade'])
    .whereNot('state', 'cancelled')
    .orderBy('started_at', 'desc')
    .first('state', 'finished_at');
  return last?.state === 'failed' && last.finished_at !== null && now.getTime() - last.finished_at.getTime() >= HOUR_MS;
}

/**
 * Notifies every admin after two failed days, or three days without a completed backup; once until a backup succeeds
 * again.
 */
async function notifyFailing({ db, settings }: KeeperDeps, now: Date): Promise<void> {
  const row = await readBackupSettings(db);
  if (!row.enabled || row.noticed_at) return;
  const good = await lastGoodAt(db);
  const since = new Date(Math.max(good?.getTime() ?? 0, row.enabled_at.getTime()));
  const late = now.getTime() - since.getTime() >= LATE_MS;
  if (!late && (await failedDays(db, since, settings.get('server.timeZone'))) < 2) return;
  const place = await findPlace(db, row.place_id);
  await db.transaction(async (transaction) => {
    const updated = await transaction('backup_settings').whereNull('noticed_at').update({ noticed_at: now });
    if (updated === 0) return;
    await notify(transaction, {
      kind: 'backup-failed',
      data: { name: nameOf(place) },
      url: '/admin/backups',
      mergeKey: `backup-failed ${newId()}`, // each notification is separate
    });
  });
}

async function lastGoodAt(db: Db): Promise<Date | undefined> {
  const row = await db('backups')
    .whereIn('state', [...GOOD])
    .whereNot('trigger', 'found')
    .orderBy('finished_at', 'desc')
    .first('finished_at');
  return row?.finished_at ?? undefined;
}

async function failedDays(db: Db, since: Date, timeZone: string): Promise<number> {
  const [row] = await db('backups')
    .where({ state: 'failed' })
    .where('finished_at', '>', since)
    .select<{ days: number }[]>(db.raw('count(distinct (finished_at at time zone ?)::date)::int as days', [timeZone]));
  return row?.days ?? 0;
}
