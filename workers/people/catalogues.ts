// The catalogues that describe people, as agents of the area.
import type { PersonAgent } from '#areas/people/public.ts';
import { type Agent, catalogueIds } from '#platform/agents/agent.ts';
import { type CatalogueDeps, Catalogues } from '#platform/agents/catalogues.ts';
import { agentOf } from '#platform/agents/index.ts';

/** For each person, with the wait for the agent's turn. */
const LIMIT_MS = 60_000;

/** One agent of each catalogue that describes people by its own ids. `catalogues` is for tests. */
export function describingCatalogues(
  deps: CatalogueDeps,
  catalogues: Catalogues = new Catalogues(deps),
): PersonAgent[] {
  return catalogueIds.flatMap((id) => personAgentOf(agentOf(id), catalogues) ?? []);
}

function personAgentOf(agent: Agent, catalogues: Catalogues): PersonAgent | undefined {
  const { id, provider, person: describe } = agent;
  if (!describe || provider === undefined) return undefined;
  return {
    ...{ key: id, providers: [provider], searchesByName: false },
    describePerson: async ({ externalIds }, { language, signal }) => {
      if (await catalogues.closedFor(agent)) return undefined;
      return describe(catalogues.queryOf(agent, { signal, limitMs: LIMIT_MS }), { ids: externalIds, language });
    },
  };
}
