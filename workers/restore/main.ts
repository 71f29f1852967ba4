import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '#platform/config.ts';
import { ringOf } from '#platform/keys.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { connectRedis } from '#platform/redis.ts';
import { restoreOnRecord } from './restore.ts';
import { sourcesOf } from './source.ts';

/**
 * Performs the recorded restore and exits. It is a process of its own, to outlive the exchange of the database, which
 * ends every other process. Its supervisor restarts it while the record is open, so an exit at any moment loses
 * nothing.
 */
const PAUSE_MS = 2000;
const config = readConfig();
const log = createLog(config.logLevel, 'restore');
const keys = await ringOf(config.keysFile);
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const deps = { config, log, keys, redis, objects };
const restored = async (): Promise<boolean> => {
  try {
    return await restoreOnRecord({ ...deps, sourceOf: sourcesOf(deps) });
  } catch (error) {
    log.error({ err: error }, 'the restore broke off: it is to be begun again');
    return endProcess(1);
  }
};
while (!(await restored())) await sleep(PAUSE_MS); // another one is about to exit
redis.disconnect();
log.info('no restore is on record any more');
await endProcess(0);
