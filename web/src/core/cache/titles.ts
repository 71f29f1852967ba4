// The title of an item that some answer in memory holds, such as the list from which its page was opened.
import { queryClient } from './query.ts';

const DEEPEST = 5;

type Holder = (id: string) => string | undefined;
const holders = new Set<Holder>();

/** Adds answers that are kept outside the cache of queries, such as the blocks of a grid. */
export function holdTitles(holder: Holder): void {
  holders.add(holder);
}

export function titleInCache(id: string): string | undefined {
  for (const holder of holders) {
    const title = holder(id);
    if (title !== undefined) return title;
  }
  for (const { state } of queryClient.getQueryCache().getAll()) {
    const title = found(state.data, id, DEEPEST);
    if (title !== undefined) return title;
  }
  return undefined;
}

function found(value: unknown, id: string, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const { id: own, title } = value as { id?: unknown; title?: unknown };
  if (own === id && typeof title === 'string') return title;
  for (const member of Object.values(value)) {
    const title = found(member, id, depth - 1);
    if (title !== undefined) return title;
  }
  return undefined;
}
