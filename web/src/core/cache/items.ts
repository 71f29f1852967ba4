// Which answers of the cache hold an item.
import type { Key } from '../api/keys.ts';

const DEEPEST = 5;

/** True when an answer holds an object with one of these ids, or was requested by it. */
export function holds([, input]: Key, answer: unknown, itemIds: ReadonlySet<string>): boolean {
  return Object.values(input).some((value) => itemIds.has(String(value))) || found(answer, itemIds, DEEPEST);
}

function found(value: unknown, itemIds: ReadonlySet<string>, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  if (Array.isArray(value)) return value.some((one) => found(one, itemIds, depth - 1));
  const { id } = value as { id?: unknown };
  if (typeof id === 'string' && itemIds.has(id)) return true;
  return Object.values(value).some((one) => found(one, itemIds, depth - 1));
}
