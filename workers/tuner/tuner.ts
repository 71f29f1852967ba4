import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { createOutbound } from '#platform/outbound.ts';
import type { TunerConfig } from './config.ts';
import { TunerDevice } from './device.ts';
import { serveTuner } from './server.ts';
import { sourceOf } from './source.ts';
import { serveStreams } from './streams/index.ts';
import { endWithSupervisor, restartsOf } from './supervisor.ts';

/**
 * One tuner device: polls it and serves its status to the operator. With the stores of the server it receives the
 * streams of its tuner too; without them it has no credential.
 */
export async function runTuner(config: TunerConfig): Promise<void> {
  const log = createLog(config.logLevel, 'tuner');
  const device = new TunerDevice(sourceOf(config, createOutbound()), config, log);
  const server = await serveTuner(device, config);
  const metrics = serveMetrics(config.metricsPort, config.host);
  device.start();
  const { streams } = config;
  const stopStreams =
    streams &&
    (await serveStreams({
      ...{ tunerId: streams.tunerId, config: streams.stores, log, networks: config.networks, space: streams.space },
      leaveMs: streams.leaveMs,
      slots: () => ({ total: device.status.tuners?.total ?? 0, foreign: device.status.tuners?.inUse ?? 0 }),
      restarts: restartsOf(),
    }));
  log.info({ port: config.port, streams: streams !== undefined }, 'tuner is up');

  let leaving = false;
  const leave = async (): Promise<void> => {
    if (leaving) return;
    leaving = true;
    device.stop();
    server.close();
    metrics?.close();
    await stopStreams?.();
    setTimeout(() => void endProcess(0), 100).unref();
  };
  // A supervisor passes on the signal that its whole group got too: the second one must not end the process at once.
  process.on('SIGTERM', () => void leave());
  process.on('SIGINT', () => void leave());
  endWithSupervisor(() => void leave());
}
