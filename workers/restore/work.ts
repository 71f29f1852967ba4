import type pg from 'pg';
import type { Config } from '#platform/config.ts';
import type { Keys } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects.ts';
import type { Redis } from '#platform/redis.ts';
import type { Source } from './load.ts';
import type { RestoreRecord } from './record.ts';

/** Dependencies of the restore process. */
export interface RestoreDeps {
  config: Config;
  objects: Objects;
  redis: Redis;
  keys: Keys;
  log: Log;
  /** Opens the recorded backup; undefined for a database that a restore put aside. Throws BackupFault. */
  sourceOf(record: RestoreRecord): Promise<Source | undefined>;
}

/** One restore, on the connection that holds its lock. */
export interface Restoring extends RestoreDeps {
  client: pg.Client;
  record: RestoreRecord;
  source: Source | undefined;
}
