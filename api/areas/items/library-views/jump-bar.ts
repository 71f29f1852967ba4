export interface Bucket {
  key: string;
  label: string;
  count: number;
  offset: number;
  /** Sort value of the first item, as text; null for items without a value. */
  first: string | null;
}

/** A group of rows with the same beginning, in list order. */
export interface Group {
  key: string | null;
  count: number;
  first: string | null;
}

/** The initial of a title, with its label in the jump bar. */
export interface Initial {
  key: string;
  label: string;
}

const MOST = 200;
const NONE: Initial = { key: 'none', label: '' };

/**
 * Makes buckets of groups in list order. Groups of one initial share a bucket; groups after the 200th bucket join the
 * last one.
 */
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
