// A second API on the stores of another, with connections of its own.
import { once } from 'node:events';
import type { Deps } from '#kernel/endpoint.ts';
import { disconnectDatabase } from '#platform/db.ts';
import { createLog } from '#platform/log.ts';
import { createApp } from '../../api/app.ts';
import { connectDeps } from '../../api/deps.ts';
import { createApiServer } from '../../api/http-server.ts';
import type { Api } from './api.ts';
import { atEnd } from './stores.ts';

/** Serves until the end of the test; its dependencies may be replaced. */
export async function replicaOf({ config }: Api): Promise<{ url: string; deps: Deps }> {
  const leaving = new AbortController();
  const deps = await connectDeps(config, createLog(config.logLevel, 'test'), leaving.signal);
  await deps.vitals.look();
  const handle = createApp({ deps, readiness: { waitingFor: () => undefined } }).callback();
  const server = createApiServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
    leaving.abort();
    deps.vitals.stop();
    deps.keyUses.stop();
    deps.settings.stop();
    deps.redis.disconnect();
    await disconnectDatabase(deps.db);
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, deps };
}
