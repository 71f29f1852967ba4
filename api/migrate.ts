import { z } from 'zod';
import { takePasswordCost } from '#areas/auth/public.ts';
import { upgradeWantsBackup } from '#areas/backup/public.ts';
import { prepareServer } from '#areas/setup/public.ts';
import { MADE_LATER, PREPARED } from '#platform/buckets.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { readKeys } from '#platform/keys.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { migrate } from '#platform/migrate.ts';
import { connectObjects } from '#platform/objects.ts';
import { BUILD } from './web/files.ts';
import { publishBuild } from './web/other-versions.ts';

/**
 * `migrate.ts [expand|contract|guarded]`. Expand runs before the API of a version starts: schema, buckets, and declared
 * resources. Contract runs once no process of the previous version is left: schema only. Without a phase everything
 * runs. `guarded` runs everything too, but does nothing and exits with 75 if a backup is required first.
 */
const BACKUP_FIRST = 75;
const word = z.enum(['expand', 'contract', 'guarded']).optional().parse(process.argv[2]);
const phase = word === 'guarded' ? undefined : word;
const config = readConfig();
const log = createLog(config.logLevel, 'migrate');
if (word === 'guarded') {
  const before = connectDatabase(config.databaseUrl, log, { max: 1, name: 'foyer-migrate', unfenced: true });
  const wanted = await upgradeWantsBackup(before);
  await before.destroy();
  if (wanted) await endProcess(BACKUP_FIRST);
}
const ran = await migrate(config.databaseUrl, phase);
log.info({ ran, phase }, 'schema is current');
if (phase === 'contract') await endProcess(0);
const db = connectDatabase(config.databaseUrl, log, { max: 2, name: 'foyer-migrate', unfenced: true });
const objects = connectObjects(config.objectsUrl);
for (const bucket of PREPARED)
  await objects.prepare([bucket]).catch((error: unknown) => {
    if (!MADE_LATER.has(bucket)) throw error;
    log.warn({ err: error, bucket }, 'this bucket cannot be made: make it in the object store');
  });
// The app of this version is complete in the store before its first pod answers.
await publishBuild(objects, BUILD).catch((error: unknown) => log.warn({ err: error }, 'chunks of the app not stored'));
takePasswordCost(config.passwordCost);
await prepareServer(db, config, await readKeys(config.keysFile));
await db.destroy();
