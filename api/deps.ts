import { takePasswordCost } from '#areas/auth/public.ts';
import { mailHealth, recordNotices } from '#areas/email/public.ts';
import { holdClocks, removeFoldersOn } from '#areas/libraries/public.ts';
import { mailNotices, takeServerZone } from '#areas/notifications/public.ts';
import { holdClocksBy, removeFoldersBy, storageHealth, takePersonalHosts } from '#areas/storage/public.ts';
import { transcodeHealth } from '#areas/streaming/public.ts';
import { speechHealth } from '#areas/subtitles/public.ts';
import { recordDeliveries } from '#areas/webhooks/public.ts';
import { createKeyUses } from '#identity/key-uses.ts';
import type { Deps } from '#kernel/endpoint.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import type { Config } from '#platform/config.ts';
import { connectDatabase, pipelineReads } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import type { Log } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { followEvents } from '#platform/outbox.ts';
import { createPictures } from '#platform/pictures.ts';
import { queueHealth } from '#platform/queue.ts';
import { connectRedis } from '#platform/redis.ts';
import { sealedHealth } from '#platform/sealed-health.ts';
import { createSettings } from '#platform/settings.ts';
import { createVitals } from '#platform/vitals.ts';

/** The dependencies of the handlers, created from the configuration. Stores may still be unavailable. */
export async function connectDeps(config: Config, log: Log, draining: AbortSignal): Promise<Deps> {
  const keys = await ringOf(config.keysFile);
  const db = connectDatabase(config.databaseUrl, log, { name: config.pod, impatient: true });
  pipelineReads(db);
  const redis = connectRedis(config.redisUrl, log);
  const objects = connectObjects(config.objectsUrl);
  const settings = createSettings({ config, db, redis, log, keys });
  await settings.reload().catch((error: Error) => log.warn({ err: error.message }, 'settings not read yet'));
  followEvents(recordDeliveries(() => settings.get('server.language')));
  mailNotices(recordNotices(settings));
  takeServerZone(() => settings.get('server.timeZone'));
  takePasswordCost(config.passwordCost);
  takePersonalHosts(() => settings.get('storages.personalHosts'));
  removeFoldersBy(removeFoldersOn);
  holdClocksBy(holdClocks);
  const vitals = createVitals(
    { db, redis, objects, pod: config.pod },
    {
      queue: () => queueHealth(db, settings.get('jobs.paused')),
      transcode: () => transcodeHealth({ redis, settings }),
      subtitles: () => speechHealth({ db, settings }),
      storage: () => storageHealth(config),
      mail: () => mailHealth(db, settings),
      keys: () => sealedHealth(db),
    },
  );
  const pictures = createPictures(config.parserUrl);
  const keyUses = createKeyUses(db, log);
  const catalogues = new Catalogues({ config, db, redis, settings, log });
  return { config, db, redis, objects, keys, log, settings, vitals, keyUses, pictures, catalogues, draining };
}
