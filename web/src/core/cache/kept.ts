// Answers that this browser keeps, so that a page begins with them and requests them again once it has its first content.
import { type Key, keyOf, type Name } from '../api/keys.ts';
import { whenCalm } from './calm.ts';
import { invalidate, queryClient } from './query.ts';

const placeOf = (name: Name): string => `foyer.kept.${name}`;
const begun = new Set<Name>();

function keptAnswer(name: Name): unknown {
  try {
    return JSON.parse(localStorage.getItem(placeOf(name)) ?? 'null');
  } catch {
    return null; // a value of another version
  }
}

/** Begins the query of an operation without parameters with the answer that is kept. Later answers are kept in its place. */
export function beginWithKept(name: Name): void {
  if (begun.has(name)) return;
  begun.add(name);
  const key: Key = keyOf(name, {});
  const kept = keptAnswer(name);
  if (kept && !queryClient.getQueryData(key)) {
    queryClient.setQueryData(key, kept);
    whenCalm(queryClient, () => void invalidate(name));
  }
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== name || query.state.status !== 'success') return;
    localStorage.setItem(placeOf(name), JSON.stringify(query.state.data));
  });
}
