import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { isCatalogue } from '#platform/agents/agent.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { agentOf } from '#platform/agents/index.ts';
import { keyStates, saveKey } from '#platform/agents/keys.store.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type CatalogueKeyName, catalogueKeys, isCatalogueKey } from '#platform/catalogue-keys.ts';
import type { CatalogueKey } from './metadata.schemas.ts';

const CHECK_MS = 8000;

const depsOf = ({ db, deps }: Call) => ({ db, config: deps.config, ring: deps.keys });

/** Every key with its source. A secret is never in the answer. */
export async function listKeys(call: Call): Promise<CatalogueKey[]> {
  const states = await keyStates(depsOf(call));
  return states.map(({ name, source, value, savedAt, savedBy, overridden, refusedAt }) => {
    const { agent, env, secret } = catalogueKeys[name];
    return {
      ...{ name, agent, env, secret, overridden },
      source: source === 'resource' ? 'environment' : source,
      ...(!secret && value !== undefined && { value }),
      ...(savedAt && { savedAt: savedAt.toISOString() }),
      ...(savedBy && { savedBy }),
      ...(refusedAt && { refusedAt: refusedAt.toISOString() }),
    };
  });
}

/** Saves and removes keys; one that a resource owns refuses them all. */
export async function saveKeys(
  call: Call,
  keys: Readonly<Partial<Record<CatalogueKeyName, string | null | undefined>>>,
): Promise<CatalogueKeyName[]> {
  const { config } = call.deps;
  const names = Object.keys(keys).filter(isCatalogueKey);
  const managed = names.filter((name) => config.declaredCatalogueKeys?.[name] !== undefined);
  if (managed.length > 0)
    throw conflict('managed-by-resource', 'A Kubernetes resource provides these keys', {
      fields: managed,
      managedBy: config.managedBy,
    });
  for (const name of names) await saveKey(depsOf(call), name, { value: keys[name] ?? null, by: call.who.accountId });
  await audit(call, 'metadata.keys-changed', { names });
  await call.emit('settings.changed', { keys: ['metadata.keys'] });
  await resumeAgents(call.deps.redis, agentsOf(names));
  return names;
}

const agentsOf = (names: readonly CatalogueKeyName[]) =>
  [...new Set(names.map((name): string => catalogueKeys[name].agent))].filter(isCatalogue);

interface Check {
  name: CatalogueKeyName;
  ok: boolean;
  reason?: 'refused' | 'unreachable' | 'rate-limited';
}

/** Queries each agent of the keys once. Providers that are no agents are left out. */
export async function checkKeys(call: Call, names: readonly CatalogueKeyName[]): Promise<Check[]> {
  const catalogues = call.deps.catalogues;
  const results = await Promise.all(
    agentsOf(names).map(async (id) => ({ id, fault: await faultOf(call, catalogues, id) })),
  );
  return names.flatMap((name): Check[] => {
    const result = results.find(({ id }) => id === catalogueKeys[name].agent);
    if (!result) return [];
    return [{ name, ok: result.fault === undefined, ...(result.fault && { reason: result.fault }) }];
  });
}

async function faultOf(
  { signal }: Call,
  catalogues: Catalogues,
  id: ReturnType<typeof agentsOf>[number],
): Promise<Check['reason']> {
  const agent = agentOf(id);
  try {
    await catalogues.queryOf(agent, { signal, limitMs: CHECK_MS, fresh: true })(agent.ping);
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogueFault)) throw error;
    if (error.reason === 'refused' || error.reason === 'missing-key') return 'refused';
    return error.reason === 'rate-limited' ? 'rate-limited' : 'unreachable';
  }
}
