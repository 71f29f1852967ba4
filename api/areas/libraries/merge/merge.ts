import type { FieldName, ItemValues } from '#platform/item-values.ts';
import { fieldNames } from './fields.ts';

/** The descriptions of one item: by source, and by persons. */
export interface Known {
  /** By source: `nfo`, `embedded`, `file-name` or the id of an agent. */
  layers: ReadonlyMap<string, ItemValues>;
  edits: ReadonlyMap<FieldName, unknown>;
}

/** How a library orders its sources. */
export interface Ranking {
  /** NFO files and embedded tags precede agents. */
  preferLocal: boolean;
  /** Ids of agents in their order. */
  agents: readonly string[];
}

/** A value with the source that it comes from. */
export interface Merged {
  value: unknown;
  source: string;
}

const LOCAL = ['nfo', 'embedded'];
const NAME = 'file-name';

/**
 * The sources of an item, the strongest first. A file name is the weakest in either order: it says what a household wrote
 * to find the file, not what the title is.
 */
export function sourcesIn({ preferLocal, agents }: Ranking, present: Iterable<string>): string[] {
  const there = new Set(present);
  const agentsOnly = [...agents, ...[...there].filter((one) => !agents.includes(one)).sort()];
  const others = agentsOnly.filter((one) => !LOCAL.includes(one) && one !== NAME);
  const order = preferLocal ? [...LOCAL, ...others] : [...others, ...LOCAL];
  return [...order, NAME].filter((one) => there.has(one));
}

/** Whether a person's value or a source's value is used where both exist. */
export type Strongest = 'person' | 'source';

/** The value of every field that a source or a person knows. */
export function merge(
  known: Known,
  ranking: Ranking,
  strongest: (name: FieldName) => Strongest = () => 'person',
): Map<FieldName, Merged> {
  const order = sourcesIn(ranking, known.layers.keys());
  const merged = new Map<FieldName, Merged>();
  for (const name of fieldNames) {
    const found = fieldValue(name, { known, order, strongest: strongest(name) });
    if (found) merged.set(name, found);
  }
  return merged;
}

interface Asked {
  known: Known;
  order: readonly string[];
  strongest: Strongest;
}

function fieldValue(name: FieldName, { known, order, strongest }: Asked): Merged | undefined {
  const given = name === 'externalIds' ? idsGiven(known, order) : firstGiven(name, known, order);
  if (!known.edits.has(name)) return given;
  if (strongest === 'source' && given) return given;
  const value = known.edits.get(name);
  if (name !== 'externalIds') return { value, source: 'person' };
  const ids = { ...(given?.value as object | undefined), ...(value as Record<string, string | null>) };
  return { value: withoutNull(ids), source: 'person' };
}

function firstGiven(name: FieldName, { layers }: Known, order: readonly string[]): Merged | undefined {
  for (const source of order) {
    const value = layers.get(source)?.[name];
    if (value !== undefined) return { value, source };
  }
  return undefined;
}

/** External ids are known by provider, so that sources complete each other. */
function idsGiven({ layers }: Known, order: readonly string[]): Merged | undefined {
  const source = order.find((one) => layers.get(one)?.externalIds);
  if (source === undefined) return undefined;
  const value = Object.assign({}, ...order.toReversed().map((one) => layers.get(one)?.externalIds));
  return { value, source };
}

const withoutNull = (ids: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== null));

/** What the sources give, without the values of persons. */
export function givenBy(known: Pick<Known, 'layers'>, ranking: Ranking): Map<FieldName, Merged> {
  return merge({ layers: known.layers, edits: new Map() }, ranking);
}
