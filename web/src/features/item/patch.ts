// Changes of the person's own state of items, in every copy that is in memory.
import type { UserState } from 'foyer-client';
import { queryClient } from '#core/cache/query.ts';

export type StatePatch = Partial<Pick<UserState, 'watched' | 'progress' | 'positionMs' | 'favorite' | 'rating'>>;
export type Patches = ReadonlyMap<string, StatePatch>;
type Listener = (patches: Patches) => void;

const listeners = new Set<Listener>();

/** Follows changes outside the query cache, such as the blocks of a grid. */
export function onPatch(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

interface Stateful {
  id: string;
  userState: object;
}

const isStateful = (value: object): value is Stateful => 'id' in value && 'userState' in value;

/** The same value, or a copy of the path to each changed item. */
export function patched<T>(value: T, patches: Patches): T {
  if (Array.isArray(value)) {
    const next = value.map((one: unknown) => patched(one, patches));
    return next.every((one, at) => one === value[at]) ? value : (next as T);
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, patched(member, patches)] as const);
  const same = entries.every(([key, member]) => member === (value as Record<string, unknown>)[key]);
  const copy = same ? value : (Object.fromEntries(entries) as T & object);
  const patch = isStateful(copy) ? patches.get(copy.id) : undefined;
  return patch ? { ...copy, userState: { ...(copy as unknown as Stateful).userState, ...patch } } : copy;
}

export function applyPatches(patches: Patches): void {
  for (const query of queryClient.getQueryCache().getAll()) {
    const next = patched(query.state.data, patches);
    if (next !== query.state.data) query.setData(next, { updatedAt: query.state.dataUpdatedAt, manual: true });
  }
  for (const listener of listeners) listener(patches);
}
