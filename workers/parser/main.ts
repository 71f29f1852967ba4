import { once } from 'node:events';
import { z } from 'zod';
import { parseEnvironment } from '#platform/config.ts';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { createParser } from './server.ts';

const config = parseEnvironment(
  z.object({
    FOYER_HOST: z.string().default('127.0.0.1'),
    FOYER_PORT: z.coerce.number().int().min(0).max(65535).default(8082),
    FOYER_METRICS_PORT: z.coerce.number().int().min(0).max(65535).default(0),
    FOYER_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  }),
  process.env,
);
const log = createLog(config.FOYER_LOG_LEVEL, 'parser');
const { server, tryOut } = createParser(log);
const metrics = serveMetrics(config.FOYER_METRICS_PORT, config.FOYER_HOST);
server.listen(config.FOYER_PORT, config.FOYER_HOST);
await once(server, 'listening');
if (!(await tryOut())) await endProcess(1);
log.info({}, 'parser is up');

/** Finishes open requests. */
function leave(): void {
  metrics?.close();
  server.close(() => void endProcess(0));
}
process.once('SIGTERM', leave);
process.once('SIGINT', leave);
