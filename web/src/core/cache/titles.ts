// The title of an item that some answer of the cache holds, such as the list from which its page was opened.
import { queryClient } from './query.ts';

const DEEPEST = 5;

export function titleInCache(id: string): string | undefined {
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
