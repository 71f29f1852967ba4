import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, notReadyFor } from '#areas/server/public.ts';
import { takeOverDeclared } from '#areas/settings/public.ts';
import { answerChecks, mediaRelay } from '#areas/storage/public.ts';
import { servePoolMetrics } from '#areas/streaming/public.ts';
import { serveSpeechMetrics } from '#areas/subtitles/public.ts';
import { readConfig } from '#platform/config.ts';
import { disconnectDatabase } from '#platform/db.ts';
import { endReplaced, whenReplaced } from '#platform/fence.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { startRelay } from '#platform/relay.ts';
import { serveVolumeMetrics } from '#platform/store-volumes.ts';
import { createApp } from './app.ts';
import { connectDeps } from './deps.ts';
import { USUAL_LIMITS } from './http-limits.ts';
import { closeGently, createApiServer } from './http-server.ts';
import { loadAreas } from './lazy-area.ts';
import { routedAreas } from './routes.ts';

const config = readConfig();
const log = createLog(config.logLevel, 'api');
whenReplaced(() => endReplaced(log));
const leaving = new AbortController();
const deps = await connectDeps(config, log, leaving.signal);
describe(() => loadAreas(routedAreas));
const app = createApp({ deps, readiness: { waitingFor: () => notReadyFor(deps) } });
const handle = app.callback();
const server = createApiServer((request, response) => void handle(request, response), {
  ...USUAL_LIMITS,
  trusted: () => deps.settings.get('network.trustedProxies'),
});
server.listen({ port: config.port, host: config.host, reusePort: true });
await once(server, 'listening');
servePoolMetrics(deps);
const declaredModel = config.declaredSettings['subtitles.model'];
serveSpeechMetrics({ db: deps.db, declaredModel: typeof declaredModel === 'string' ? declaredModel : undefined });
serveVolumeMetrics(deps.redis);
serveMetrics(config.metricsPort, config.host, mediaRelay({ db: deps.db, config, log }));
const relay = startRelay(config.databaseUrl, deps.redis, log);
const stopAnswering = answerChecks({ ...deps, config }, 'api');
log.info({ port: config.port, pod: config.pod }, 'listening');
await deps.vitals.look();
void takeOverDeclared(deps, leaving.signal);
// From its source a process loads all of its code now: a later version of the tree may take its place while it runs.
if (process.env['FOYER_BUNDLED'] === undefined) void loadAreas(routedAreas);

const DEADLINE_MS = 20_000;

/** Becomes unready at once, pauses while clients move, then closes the listener and lets open streams finish. */
async function drain(): Promise<void> {
  leaving.abort();
  await sleep(config.drainMs);
  await closeGently(server, DEADLINE_MS);
  await relay.stop();
  stopAnswering();
  deps.vitals.stop();
  deps.keyUses.stop();
  await deps.keyUses.flush().catch(() => undefined);
  deps.settings.stop();
  deps.redis.disconnect();
  await disconnectDatabase(deps.db);
  await endProcess(0);
}

process.once('SIGTERM', () => void drain());
process.once('SIGINT', () => void drain());
