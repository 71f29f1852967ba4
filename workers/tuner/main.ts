import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { createOutbound } from '#platform/outbound.ts';
import { readTunerConfig } from './config.ts';
import { TunerDevice } from './device.ts';
import { serveTuner } from './server.ts';
import { sourceOf } from './source.ts';

/** One tuner device: polls it and serves its status to the operator. It has no credential of the server. */
const config = readTunerConfig();
const log = createLog(config.logLevel, 'tuner');
const device = new TunerDevice(sourceOf(config, createOutbound()), config, log);
const server = await serveTuner(device, config);
const metrics = serveMetrics(config.metricsPort, config.host);
device.start();
log.info({ port: config.port }, 'tuner is up');

function leave(): void {
  device.stop();
  server.close();
  metrics?.close();
  setTimeout(() => void endProcess(0), 100).unref();
}
process.once('SIGTERM', leave);
process.once('SIGINT', leave);
