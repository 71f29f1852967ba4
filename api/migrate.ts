import { prepareServer } from '#areas/setup/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { readKeys } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { migrate } from '#platform/migrate.ts';
import { connectObjects } from '#platform/objects.ts';

/** Run to its end before the API of a version starts: schema, buckets, and what the resource declares. */
const config = readConfig();
const log = createLog(config.logLevel, 'migrate');
const ran = await migrate(config.databaseUrl);
log.info({ ran }, 'schema is current');
const db = connectDatabase(config.databaseUrl, log, { max: 2, name: 'foyer-migrate' });
await connectObjects(config.objectsUrl).prepare([
  'foyer-artwork',
  'foyer-artwork-cache',
  'foyer-derived',
  'foyer-subtitles',
  'foyer-transcode',
]);
await prepareServer(db, config, await readKeys(config.keysFile));
await db.destroy();
