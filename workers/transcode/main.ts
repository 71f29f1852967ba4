import { answerChecks, takePersonalHosts } from '#areas/storage/public.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase } from '#platform/db.ts';
import { endReplaced, whenReplaced } from '#platform/fence.ts';
import { endAtOnce, endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { connectObjects } from '#platform/objects.ts';
import { connectRedis } from '#platform/redis.ts';
import { createSettings } from '#platform/settings.ts';
import { chooseEncoder } from './encoders.ts';
import { answerTrials } from './trials.ts';
import { TranscodeWorker } from './worker.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'transcode');
whenReplaced(() => endReplaced(log));
const db = connectDatabase(config.databaseUrl, log, { max: 4, name: 'foyer-transcode' });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const settings = createSettings({ config, db, redis, log });
await settings.reload().catch(() => undefined);
await objects.prepare(['foyer-transcode']);
const encoder = await chooseEncoder(settings.get('transcode.hardware'), log);
const worker = new TranscodeWorker({ config, db, redis, objects, log, encoder, threads: 0 });
const metrics = serveMetrics(config.metricsPort, config.host);
worker.start();
takePersonalHosts(() => settings.get('storages.personalHosts'));
const stopAnswering = answerChecks({ db, config, redis, log }, 'transcode');
const endTrials = answerTrials({ redis, encoder, config, log });
log.info({ encoder: encoder.name, slots: config.maxSessions }, 'transcode worker is up');

let leaving = false;
async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  setTimeout(endAtOnce, 10_000).unref();
  endTrials();
  stopAnswering();
  await worker.stop();
  settings.stop();
  metrics?.close();
  redis.disconnect();
  await db.destroy();
  await endProcess(0);
}
process.on('SIGTERM', () => void leave());
process.on('SIGINT', () => void leave());
