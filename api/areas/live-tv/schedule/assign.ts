import { type Group, isFree, mergeInto, overlaps, peakOf } from './groups.ts';
import type { Wanted } from './plan.ts';

interface Limits {
  slots: ReadonlyMap<string, number>;
  /** Steps of searching that are left for the whole plan. */
  budget: { steps: number };
}

/** Steps for one recording: then it counts as one that does not fit. */
const MOST_STEPS = 50_000;

/** The groups with one more programme, moved to other tuners where that makes room. Undefined when there is no room. */
export function assign(groups: readonly Group[], one: Wanted, limits: Limits): Group[] | undefined {
  const { rest, group } = mergeInto(groups, one);
  for (const tunerId of group.options) {
    const placed = { ...group, tunerId };
    if (isFree(rest, placed, limits.slots.get(tunerId) ?? 0)) return [...rest, placed];
  }
  if (group.options.length === 0 || isFull(rest, group, limits)) return undefined;
  return rearranged(rest, group, limits);
}

/** No rearrangement helps when more channels are wanted at a time than there are slots. */
function isFull(rest: readonly Group[], group: Group, { slots }: Limits): boolean {
  const all = [...slots.values()].reduce((sum, count) => sum + count, 0);
  return peakOf(rest, group) >= all;
}

/** Searches tuners anew for all groups that touch the new one in time, directly or through others. */
function rearranged(rest: readonly Group[], group: Group, { slots, budget }: Limits): Group[] | undefined {
  const cluster = clusterOf(rest, group);
  const others = rest.filter((one) => !cluster.includes(one));
  const wanted = [...cluster, group].sort((a, b) => a.from - b.from || a.to - b.to);
  const search = { slots, steps: Math.min(MOST_STEPS, budget.steps) };
  const before = search.steps;
  const found = place(wanted, [], search);
  budget.steps -= before - search.steps;
  return found && [...others, ...found];
}

function clusterOf(rest: readonly Group[], group: Group): Group[] {
  const cluster = new Set<Group>();
  const queue = [group];
  for (let next = queue.pop(); next; next = queue.pop())
    for (const one of rest) {
      if (cluster.has(one) || !overlaps(one, next)) continue;
      cluster.add(one);
      queue.push(one);
    }
  return [...cluster];
}

interface Search {
  slots: ReadonlyMap<string, number>;
  steps: number;
}

function place(wanted: readonly Group[], placed: readonly Group[], search: Search): Group[] | undefined {
  const [group, ...later] = wanted;
  if (!group) return [...placed];
  for (const tunerId of new Set(group.tunerId ? [group.tunerId, ...group.options] : group.options)) {
    search.steps -= 1;
    if (search.steps < 0) return undefined;
    const own = { ...group, tunerId };
    if (!isFree(placed, own, search.slots.get(tunerId) ?? 0)) continue;
    const found = place(later, [...placed, own], search);
    if (found) return found;
  }
  return undefined;
}
