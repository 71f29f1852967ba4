import { z } from 'zod';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { serveStatus } from '../status-server.ts';

/** A speech worker. This version cannot load a model, so the pod is alive but never ready. */
const config = z
  .object({
    FOYER_SUBTITLES_MODEL: z.string().default('base'),
    FOYER_HOST: z.string().default('127.0.0.1'),
    FOYER_PORT: z.coerce.number().int().min(0).max(65535).default(8081),
    FOYER_METRICS_PORT: z.coerce.number().int().min(0).max(65535).default(0),
    FOYER_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  })
  .parse(process.env);
const log = createLog(config.FOYER_LOG_LEVEL, 'subtitles');
const state = { model: config.FOYER_SUBTITLES_MODEL, loaded: false, message: 'no model loaded' };
const server = await serveStatus(
  {
    '/live': () => ({ body: { status: 'ok' } }),
    '/ready': () => ({ status: 503, body: { status: 'down', message: state.message } }),
    '/status': () => ({ body: state }),
  },
  { host: config.FOYER_HOST, port: config.FOYER_PORT },
);
const metrics = serveMetrics(config.FOYER_METRICS_PORT, config.FOYER_HOST);
log.warn({ model: state.model }, state.message);

function leave(): void {
  server.close();
  metrics?.close();
  setTimeout(() => void endProcess(0), 100).unref();
}
process.once('SIGTERM', leave);
process.once('SIGINT', leave);
