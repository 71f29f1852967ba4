// Whether each agent answers, as the last check found; kept in Redis, so that no request waits for an agent.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from '../redis.ts';
import type { Agent, CatalogueId } from './agent.ts';
import { type CatalogueDeps, Catalogues } from './catalogues.ts';
import { CatalogueFault, type FaultReason } from './fault.ts';
import { agents } from './index.ts';
import { pausedAgents } from './pace.ts';

const EVERY_MS = 5 * 60_000;
const LIMIT_MS = 3000;
/** Three rounds: an older result shows nothing. */
const KEPT_SEC = 900;
const ROUND = 'agents:round';

const nameOf = (id: CatalogueId): string => `agent:${id}:health`;

/** The result of one request to each agent that settings and keys allow; `ok`, or the reason why it gave no answer. */
export async function tryAgents(
  catalogues: Catalogues,
  { signal, limitMs, only = agents }: { signal: AbortSignal; limitMs: number; only?: readonly Agent[] },
): Promise<Map<CatalogueId, FaultReason | 'ok'>> {
  const results = await Promise.all(
    only.map(async (agent) => {
      if (await catalogues.closedFor(agent)) return [];
      const query = catalogues.queryOf(agent, { signal, limitMs, fresh: true });
      const result = await query(agent.ping).then(
        () => 'ok' as const,
        (error: unknown) => (error instanceof CatalogueFault ? error.reason : 'unreachable'),
      );
      return [[agent.id, result] as const];
    }),
  );
  return new Map(results.flat());
}

/** One check of every agent, for listMetadataAgents. */
export async function checkAgents(deps: CatalogueDeps, catalogues: Catalogues, signal: AbortSignal): Promise<void> {
  const results = await tryAgents(catalogues, { signal, limitMs: LIMIT_MS });
  for (const [id, result] of results) await deps.redis.set(nameOf(id), result, 'EX', KEPT_SEC).catch(() => undefined);
}

/** Checks the agents every 5 minutes, in one worker at a time. Waits for the first round of others. */
export async function keepAgentsChecked(
  deps: CatalogueDeps,
  signal: AbortSignal,
  catalogues = new Catalogues(deps),
): Promise<void> {
  while (!signal.aborted) {
    const mine = await deps.redis.set(ROUND, deps.config.pod, 'PX', EVERY_MS - 1000, 'NX').catch(() => null);
    if (mine)
      await checkAgents(deps, catalogues, signal).catch((error: Error) =>
        deps.log.debug({ err: error.message }, 'agents not checked'),
      );
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The reasons for which agents do not answer now. An agent that was not checked yet counts as answering. */
export async function silentAgents(redis: Redis): Promise<ReadonlyMap<CatalogueId, FaultReason>> {
  const ids = agents.map(({ id }) => id);
  const results = await redis.mget(ids.map(nameOf)).catch(() => []);
  const failed = ids.flatMap((id, at) =>
    results[at] && results[at] !== 'ok' ? [[id, results[at] as FaultReason] as const] : [],
  );
  return new Map([...failed, ...(await pausedAgents(redis, ids))]);
}
