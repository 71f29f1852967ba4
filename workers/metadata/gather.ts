// What the agents of a library know of one item.
import type { ChosenPicture, RefreshOptions } from '#areas/editing/public.ts';
import { identityOf, MAX_TITLE, type RefreshedItem } from '#areas/libraries/public.ts';
import { type Agent, isCatalogue, type KnownChild, type Query, type RemotePicture } from '#platform/agents/agent.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { agentOf } from '#platform/agents/index.ts';
import { bestOf } from '#platform/agents/score.ts';
import type { ItemValues, Layer } from '#platform/item-values.ts';

/** For each agent and item, with the wait for the agent's turn. */
const LIMIT_MS = 60_000;
const LONGEST_TEXT = 20_000;
const MOST_CHILDREN = 5000;

export interface Gathered {
  /** By provider, with those that agents added. */
  ids: Record<string, string>;
  layers: Layer[];
  pictures: (RemotePicture & Pick<ChosenPicture, 'agent'>)[];
  children: (KnownChild & { agent: string })[] | undefined;
  /** The first agent that knows the item. */
  match: { agent: string; confidence: number } | undefined;
  /** Agents that did not answer; the item is tried again for them. */
  failed: string[];
}

interface Gathering {
  item: RefreshedItem;
  options: RefreshOptions;
  gathered: Gathered;
}

export interface Sources {
  catalogues: Catalogues;
  signal: AbortSignal;
}

/** Queries the agents in order. Each knows the ids that those before it gave; one that fails is left out. */
export async function gather(
  { catalogues, signal }: Sources,
  item: RefreshedItem,
  { ids, options }: { ids: Readonly<Record<string, string>>; options: RefreshOptions },
): Promise<Gathered> {
  const gathered: Gathered = {
    ...{ ids: { ...ids }, layers: [], pictures: [], children: undefined, match: undefined, failed: [] },
  };
  for (const agent of agentsFor(item, options)) {
    signal.throwIfAborted();
    const query = catalogues.queryOf(agent, { signal, limitMs: LIMIT_MS });
    try {
      await gatherFrom(agent, query, { item, options, gathered });
    } catch (error) {
      if (!(error instanceof CatalogueFault)) throw error;
      if (error.reason !== 'disabled' && error.reason !== 'missing-key') gathered.failed.push(agent.id);
    }
  }
  return gathered;
}

/** The agents of the library that need the network and describe such items. */
export function agentsFor({ agents, type }: RefreshedItem, { agents: only }: RefreshOptions): Agent[] {
  return agents
    .filter((id) => isCatalogue(id) && (!only || only.includes(id)))
    .map((id) => agentOf(id as Parameters<typeof agentOf>[0]))
    .filter((agent) => agent.itemTypes.includes(type));
}

async function gatherFrom(agent: Agent, query: Query, gathering: Gathering): Promise<void> {
  const { item, options, gathered } = gathering;
  await identify(agent, query, gathering);
  const identity = identityOf(item, gathered.ids);
  const description = await agent.describe?.(query, identity);
  if (description) {
    gathered.layers.push({ source: { agent: agent.id }, values: bounded(description.values) });
    if (!item.byContainer) gathered.ids = { ...description.values.externalIds, ...gathered.ids };
  }
  if (options.artwork !== 'none') {
    const pictures = description?.pictures ?? (await agent.artwork?.(query, identity)) ?? [];
    gathered.pictures.push(...pictures.map((one) => ({ ...one, agent: agent.id })));
  }
  await gatherChildren(agent, query, gathering);
}

/** The children that the first agent knows which knows any. */
async function gatherChildren(agent: Agent, query: Query, { item, gathered }: Gathering): Promise<void> {
  if (gathered.children || !agent.children || item.byContainer) return;
  const children = await agent.children(query, identityOf(item, gathered.ids));
  if (children.length > 0)
    gathered.children = children.slice(0, MOST_CHILDREN).map((child) => ({ ...child, agent: agent.id }));
}

/** Finds the item in the catalogue, unless its id there is known. */
async function identify(agent: Agent, query: Query, { item, gathered }: Gathering): Promise<void> {
  const { provider } = agent;
  if (provider !== undefined && gathered.ids[provider] !== undefined) {
    gathered.match ??= { agent: agent.id, confidence: 1 };
    return;
  }
  if (!agent.identify || item.byContainer) return;
  const wanted = { ...item.wanted, ids: gathered.ids };
  const best = bestOf(wanted, await agent.identify(query, wanted));
  if (!best) return;
  gathered.ids = { ...best.found.ids, ...gathered.ids };
  gathered.match ??= { agent: agent.id, confidence: best.score };
}

/** Values within the limits of an edit; longer ones are cut. */
function bounded(values: ItemValues): ItemValues {
  const texts = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'string') return [name, value.slice(0, /itle$/.test(name) ? MAX_TITLE : LONGEST_TEXT)];
    return [name, value];
  });
  return Object.fromEntries(texts) as ItemValues;
}
