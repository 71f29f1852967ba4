import { recordNotices } from '#areas/email/public.ts';
import { mailNotices, takeServerZone } from '#areas/notifications/public.ts';
import { describePeopleBy } from '#areas/people/public.ts';
import { answerChecks, takePersonalHosts } from '#areas/storage/public.ts';
import { recordDeliveries } from '#areas/webhooks/public.ts';
import { keepAgentsChecked } from '#platform/agents/health.ts';
import { readConfig } from '#platform/config.ts';
import { connectDatabase, databaseUp } from '#platform/db.ts';
import { endReplaced, whenReplaced } from '#platform/fence.ts';
import { ringOf } from '#platform/keys.ts';
import { endAtOnce, endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { connectObjects } from '#platform/objects.ts';
import { followEvents } from '#platform/outbox.ts';
import { connectRedis } from '#platform/redis.ts';
import { startRelay } from '#platform/relay.ts';
import { createSettings } from '#platform/settings.ts';
import { keepBackups } from './backup/keeper.ts';
import { watchDisks } from './disk-watch.ts';
import { handlers } from './handlers.ts';
import { sweepJobCounts } from './job-counts.ts';
import { keepGuides } from './live/guide/keeper.ts';
import { keepTunersScanned } from './live/keeper.ts';
import { keepRecordingsTrimmed } from './live/keeping/keeper.ts';
import { Recorder } from './live/recorder/keeper.ts';
import { keepScheduled } from './live/schedule/keeper.ts';
import { describingCatalogues } from './people/catalogues.ts';
import { sweepPlayback } from './playback-sweeper.ts';
import { keepSealed } from './resealing.ts';
import { startRuntime } from './runtime.ts';
import { overseeScans } from './scan/watch/overseer.ts';
import { watchStorages } from './scan/watch/storages.ts';
import { keepSearched } from './search/keeper.ts';
import { keepSettled } from './settle.ts';
import { keepTranscodeCache } from './transcode-cache.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'worker');
whenReplaced(() => endReplaced(log));
const db = connectDatabase(config.databaseUrl, log, { max: 10, name: config.pod, statementTimeoutMs: 120_000 });
const redis = connectRedis(config.redisUrl, log);
const objects = connectObjects(config.objectsUrl);
const keys = await ringOf(config.keysFile);
const settings = createSettings({ config, db, redis, log, keys });
await databaseUp(db);
await settings.reload();
followEvents(recordDeliveries(() => settings.get('server.language')));
mailNotices(recordNotices(settings));
takeServerZone(() => settings.get('server.timeZone'));
takePersonalHosts(() => settings.get('storages.personalHosts'));
const stopping = new AbortController();
const deps = { config, db, redis, objects, settings, log };
const runtime = await startRuntime(deps, handlers, () => {
  log.error('the database connection that says this worker lives is gone; others take its jobs, so it ends');
  endAtOnce();
});
const relay = startRelay(config.databaseUrl, redis, log);
const sweeping = sweepPlayback(deps, stopping.signal);
const counting = sweepJobCounts(db, log, stopping.signal);
const watchingDisks = watchDisks(deps, stopping.signal);
const settling = keepSettled(db, log, stopping.signal);
const overseeing = overseeScans(deps, stopping.signal);
const watching = watchStorages(deps, stopping.signal);
const stopAnswering = answerChecks(deps, 'worker');
const trimming = keepTranscodeCache(deps, stopping.signal);
const backingUp = keepBackups({ ...deps, keys }, stopping.signal);
const searching = keepSearched(deps, stopping.signal);
const scanningTuners = keepTunersScanned(deps, stopping.signal);
const guiding = keepGuides(deps, stopping.signal);
const recording = new Recorder(deps).run(stopping.signal);
const planning = keepScheduled(deps, stopping.signal);
const keeping = keepRecordingsTrimmed(deps, stopping.signal);
const sealing = keepSealed({ db, keys, log }, stopping.signal);
const checking = keepAgentsChecked(deps, stopping.signal);
describePeopleBy(describingCatalogues(deps));
serveMetrics(config.metricsPort, config.host);
log.info({ pod: config.pod }, 'worker is up');

/** Releases its jobs within 15 seconds, each at its checkpoint. */
async function leave(): Promise<void> {
  stopping.abort();
  setTimeout(endAtOnce, 20_000).unref();
  await runtime.stop();
  await Promise.all([
    sweeping,
    counting,
    settling,
    watchingDisks,
    overseeing,
    watching,
    trimming,
    backingUp,
    searching,
    scanningTuners,
    guiding,
    recording,
    planning,
    keeping,
    sealing,
    checking,
  ]);
  stopAnswering();
  await relay.stop();
  settings.stop();
  redis.disconnect();
  await db.destroy();
  await endProcess(0);
}

process.once('SIGTERM', () => void leave());
process.once('SIGINT', () => void leave());
