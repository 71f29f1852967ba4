// A worker process for tests of deliveries: the real runtime and handlers under a clock that a file sets ahead.
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { recordNotices } from '#areas/email/public.ts';
import { mailNotices, takeServerZone } from '#areas/notifications/public.ts';
import { recordDeliveries } from '#areas/webhooks/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { ringOf } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { createOutbound } from '#platform/outbound.ts';
import { followEvents } from '#platform/outbox.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { createEmailSend } from '#workers/email/send.ts';
import { createDigests } from '#workers/email/upkeep.ts';
import { handlers } from '#workers/handlers.ts';
import { createPushSend } from '#workers/notifications/push-send.ts';
import { startRuntime } from '#workers/runtime.ts';
import { createDeliver } from '#workers/webhooks/deliver.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'test-worker');
const db = connectDatabase(config.databaseUrl, log, { max: 5 });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const settings = createSettings({ config, db, redis, log, keys: await ringOf(config.keysFile) });
await settings.reload();
const authority = process.env.TEST_CA;
if (authority) setDefaultCACertificates([...getCACertificates(), authority]);
const clock = (): Date => new Date(Date.now() + Number(readFileSync(process.env.TEST_CLOCK_FILE ?? '', 'utf8')));
const local = createOutbound({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
followEvents(recordDeliveries(() => settings.get('server.language')));
mailNotices(recordNotices(settings));
takeServerZone(() => settings.get('server.timeZone'));
const runtime = await startRuntime(
  { config, db, redis, objects, settings, log },
  {
    ...handlers,
    'webhook.deliver': createDeliver({ clock }),
    'email.send': createEmailSend({ clock, resolve: async () => '127.0.0.1' }),
    'email.digest': createDigests({ clock }),
    'push.send': createPushSend({
      clock,
      outbound: (url, options) => local(url, { ...options, allow: ['127.0.0.0/8'] }),
    }),
  },
  () => process.exit(1),
);
process.once('SIGTERM', () => void runtime.stop().then(() => process.exit(0)));
process.stdout.write('up\n');
