import { z } from 'zod';
import { recordNotices } from '#areas/email/public.ts';
import { mailNotices } from '#areas/notifications/public.ts';
import { recordDeliveries } from '#areas/webhooks/public.ts';
import { parseEnvironment, readConfig } from '#platform/config.ts';
import { connectDatabase, databaseUp } from '#platform/db.ts';
import { endReplaced, whenReplaced } from '#platform/fence.ts';
import { endAtOnce, endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { connectObjects } from '#platform/objects.ts';
import { followEvents } from '#platform/outbox.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { serveStatus } from '../status-server.ts';
import { SpeechWorker } from './speech/worker.ts';

/** What a speech worker reads in addition to the configuration of every process. */
const SpeechEnvironment = z.object({
  /** Folder of the model below FOYER_MODELS_DIR. */
  FOYER_SUBTITLES_MODEL: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('base'),
  /** Of soundtracks that name no language; without it the model judges them. */
  FOYER_SUBTITLES_LANGUAGE: z.string().optional(),
  FOYER_MODELS_DIR: z.string().default('/models'),
  /** Digest of model.bin. */
  FOYER_SUBTITLES_MODEL_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .optional(),
  /** The interpreter that has faster-whisper. */
  FOYER_SUBTITLES_PYTHON: z.string().default('python3'),
  FOYER_SUBTITLES_DEVICE: z.enum(['auto', 'cpu', 'gpu']).default('auto'),
});
const speech = parseEnvironment(SpeechEnvironment, process.env);
const config = readConfig();
const log = createLog(config.logLevel, 'subtitles');
whenReplaced(() => endReplaced(log));
const db = connectDatabase(config.databaseUrl, log, { max: 4, name: config.pod });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const settings = createSettings({ config, db, redis, log });
const worker = new SpeechWorker(
  { config, db, objects, settings, log, language: speech.FOYER_SUBTITLES_LANGUAGE },
  {
    modelsDir: speech.FOYER_MODELS_DIR,
    name: speech.FOYER_SUBTITLES_MODEL,
    sha256: speech.FOYER_SUBTITLES_MODEL_SHA256,
    python: speech.FOYER_SUBTITLES_PYTHON,
    device: speech.FOYER_SUBTITLES_DEVICE,
  },
  `${config.pod}-${process.pid}`,
);
const server = await serveStatus(
  {
    '/live': () => ({ body: { status: 'ok' } }),
    '/ready': () => {
      const { state, message } = worker.status;
      return state === 'ready' ? { body: { status: 'ok' } } : { status: 503, body: { status: 'down', message } };
    },
    '/status': () => ({ body: worker.status }),
  },
  { host: config.host, port: config.port },
);
const metrics = serveMetrics(config.metricsPort, config.host);
await databaseUp(db);
await settings.reload().catch(() => undefined);
await objects.prepare(['foyer-subtitles']);
followEvents(recordDeliveries(() => settings.get('server.language')));
mailNotices(recordNotices(settings));
worker.start();
log.info({ model: speech.FOYER_SUBTITLES_MODEL }, 'speech worker is up');

let leaving = false;
async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  setTimeout(endAtOnce, 10_000).unref();
  server.close();
  metrics?.close();
  await worker.stop();
  settings.stop();
  redis.disconnect();
  await db.destroy();
  await endProcess(0);
}
process.on('SIGTERM', () => void leave());
process.on('SIGINT', () => void leave());
