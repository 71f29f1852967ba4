// The jump rail: buckets of the list (letters, years) by their place, and what a place is called.

export interface Bucket {
  key: string;
  label: string;
  count: number;
  offset: number;
}

/** The bucket that holds an index. */
export function bucketAt<B extends Bucket>(buckets: readonly B[], index: number): B | undefined {
  let [low, high] = [0, buckets.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((buckets[middle]?.offset ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return buckets[low];
}

/** The part of the list above an index, 0 to 1. */
export const shareOf = (index: number, total: number): number =>
  total <= 1 ? 0 : Math.min(1, Math.max(0, index / (total - 1)));

/** The index at a part of the rail's height. */
export const indexAt = (share: number, total: number): number =>
  Math.round(Math.min(1, Math.max(0, share)) * Math.max(0, total - 1));

export interface RailMark {
  label: string;
  index: number;
  /** 0 to 1 of the rail's height. */
  at: number;
}

/** Marks of the rail that do not overlap: each at the place of its first item, the largest buckets first. */
export function marksOf(buckets: readonly Bucket[], total: number, height: number, least = 18): RailMark[] {
  const kept: RailMark[] = [];
  for (const { label, offset } of [...buckets].sort((a, b) => b.count - a.count)) {
    const mark = { label, index: offset, at: shareOf(offset, total) };
    if (label && kept.every(({ at }) => Math.abs(at - mark.at) * height >= least)) kept.push(mark);
  }
  return kept.sort((a, b) => a.index - b.index);
}
