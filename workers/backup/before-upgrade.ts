import { setTimeout as sleep } from 'node:timers/promises';
import { findBackup, requestBeforeUpgrade, upgradeWantsBackup, versionOfDatabase } from '#areas/backup/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { FinalFailure, Postponed } from '#workers/work.ts';
import { createBackup } from './create.ts';

/**
 * `before-upgrade.ts [alone]`: creates the backup before a build migrates the database, if the settings require one;
 * exits with 0 once it exists, or if none is required. Workers of the serving version pick it up like any backup; if
 * none does in time, or none runs (`alone`, on one machine), this process creates it.
 */
const LOOK_MS = 500;
const PATIENCE_MS = process.argv[2] === 'alone' ? 0 : 30_000;
const config = readConfig();
const log = createLog(config.logLevel, 'backup');
const db = connectDatabase(config.databaseUrl, log, { max: 4, name: config.pod });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const keys = await ringOf(config.keysFile);
const settings = createSettings({ config, db, redis, log, keys });
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort('stopping'));

/** Polls until it has ended; returns its state. */
async function driven(id: string, version: string): Promise<string> {
  const since = Date.now();
  for (;;) {
    const row = await findBackup(db, id);
    if (!row || (row.state !== 'queued' && row.state !== 'running')) return row?.state ?? 'missing';
    if (Date.now() - since >= PATIENCE_MS) await make(id, row.job_id ?? id, version);
    await sleep(LOOK_MS, undefined, { signal: stopping.signal });
  }
}

/** The outcome is recorded in its row. */
async function make(id: string, jobId: string, version: string): Promise<void> {
  const nothing = async (): Promise<void> => undefined;
  const of = { jobId, signal: stopping.signal, checkpoint: null, keep: nothing, report: nothing };
  await createBackup({ backupId: id }, { config, db, redis, objects, settings, log, ...of }, version).catch((error) => {
    if (!(error instanceof Postponed || error instanceof FinalFailure)) throw error;
  });
}

async function made(): Promise<boolean> {
  if (!(await upgradeWantsBackup(db))) return true;
  const version = await versionOfDatabase(db);
  await settings.reload();
  for (;;) {
    const { id, isOurs } = await requestBeforeUpgrade({ config, db, keys, version });
    const state = await driven(id, version);
    log.info({ backup: id, state }, isOurs ? 'the backup before the upgrade ended' : 'another backup ended first');
    if (isOurs) return state === 'completed' || state === 'verified';
  }
}

const done = await made();
if (!done) log.error('the backup before the upgrade failed: the database is not migrated');
await endProcess(done ? 0 : 1);
