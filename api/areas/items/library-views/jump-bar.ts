/** Buckets of the jump bar. */

export interface Bucket {
  key: string;
  label: string;
  count: number;
  offset: number;
  /** Sort value of the first item in it, as text; null for items without one. */
  first: string | null;
}

/** One group of rows with the same beginning, in the list's order. */
export interface Group {
  key: string | null;
  count: number;
  first: string | null;
}

/** What a title begins with; the label is what the bar shows. */
export interface Initial {
  key: string;
  label: string;
}

const MOST = 200;
const NONE: Initial = { key: 'none', label: '' };

/** Groups in the list's order become buckets; those of one initial are one, and so is what is beyond the two hundredth. */
export function bucketsOf(groups: readonly Group[], initialOf: (start: string) => Initial): Bucket[] {
  const buckets = new Map<string, Bucket>();
  let offset = 0;
  let last: Bucket | undefined;
  for (const group of groups) {
    const { key, label } = group.key === null ? NONE : initialOf(group.key);
    const known = buckets.get(key) ?? (buckets.size >= MOST ? last : undefined);
    last = known ?? { key, label, count: 0, offset, first: group.first };
    last.count += group.count;
    buckets.set(last.key, last);
    offset += group.count;
  }
  return [...buckets.values()];
}
