// What the agents of a library know of one item.
import type { ChosenPicture, RefreshOptions } from '#areas/editing/public.ts';
import { identityOf, MAX_TITLE, type RefreshedItem } from '#areas/libraries/public.ts';
import type { KnownChild, RemotePicture, SeriesOf } from '#platform/agents/agent.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { bestOf } from '#platform/agents/score.ts';
import type { SharedAnswers } from '#platform/agents/shared-answers.ts';
import { describesType, type Source, sourceOf } from '#platform/agents/sources.ts';
import type { Db } from '#platform/db.ts';
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
  /** The series of the item in each catalogue that described it; undefined where it is in none. */
  series: { agent: string; series: SeriesOf | undefined }[];
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
  db: Db;
  catalogues: Catalogues;
  signal: AbortSignal;
  answers: SharedAnswers;
}

/** Queries the agents in order. Each knows the ids that those before it gave; one that fails is left out. */
export async function gather(
  { signal, ...sources }: Sources,
  item: RefreshedItem,
  { ids, options }: { ids: Readonly<Record<string, string>>; options: RefreshOptions },
): Promise<Gathered> {
  const gathered: Gathered = {
    ...{ ids: { ...ids }, layers: [], pictures: [], series: [], children: undefined, match: undefined, failed: [] },
  };
  for (const id of agentsFor(item, options)) {
    signal.throwIfAborted();
    const source = await sourceOf(id, { ...sources, patience: { signal, limitMs: LIMIT_MS } });
    if (!source) continue;
    try {
      await gatherFrom(source, { item, options, gathered });
    } catch (error) {
      if (!(error instanceof CatalogueFault)) throw error;
      if (error.reason !== 'disabled' && error.reason !== 'missing-key') gathered.failed.push(id);
    }
  }
  return gathered;
}

/** The agents of the library, without those that read files, that describe such items. */
export function agentsFor({ agents, type }: RefreshedItem, { agents: only }: RefreshOptions): string[] {
  return agents.filter((id) => (!only || only.includes(id)) && describesType(id, type));
}

async function gatherFrom(source: Source, gathering: Gathering): Promise<void> {
  const { item, options, gathered } = gathering;
  await identify(source, gathering);
  const identity = identityOf(item, gathered.ids);
  const description = await source.describe?.(identity);
  if (description) {
    gathered.layers.push({ source: { agent: source.id }, values: bounded(description.values) });
    gathered.series.push({ agent: source.id, series: description.partOf });
    if (!item.byContainer) gathered.ids = { ...description.values.externalIds, ...gathered.ids };
  }
  if (options.artwork !== 'none') {
    const pictures = description?.pictures ?? (await source.artwork?.(identity)) ?? [];
    gathered.pictures.push(...pictures.map((one) => ({ ...one, agent: source.id })));
  }
  await gatherChildren(source, gathering);
}

/** The children that the first agent knows which knows any. */
async function gatherChildren(source: Source, { item, gathered }: Gathering): Promise<void> {
  if (gathered.children || !source.children || item.byContainer) return;
  const children = await source.children(identityOf(item, gathered.ids));
  if (children.length > 0)
    gathered.children = children.slice(0, MOST_CHILDREN).map((child) => ({ ...child, agent: source.id }));
}

/** Finds the item in the catalogue, unless its id there is known. */
async function identify(source: Source, { item, gathered }: Gathering): Promise<void> {
  const { provider } = source;
  if (provider !== undefined && gathered.ids[provider] !== undefined) {
    gathered.match ??= { agent: source.id, confidence: 1 };
    return;
  }
  if (!source.identify || item.byContainer) return;
  const wanted = { ...item.wanted, ids: gathered.ids };
  const best = bestOf(wanted, await source.identify(wanted));
  if (!best) return;
  gathered.ids = { ...best.found.ids, ...gathered.ids };
  gathered.match ??= { agent: source.id, confidence: best.score };
}

/** Values within the limits of an edit; longer ones are cut. */
function bounded(values: ItemValues): ItemValues {
  const texts = Object.entries(values).map(([name, value]) => {
    if (typeof value === 'string') return [name, value.slice(0, /itle$/.test(name) ? MAX_TITLE : LONGEST_TEXT)];
    return [name, value];
  });
  return Object.fromEntries(texts) as ItemValues;
}
