import { type Group, isFree, mergeInto, overlaps } from './groups.ts';
import { haveRoom } from './moment.ts';
import type { Wanted } from './wanted.ts';

interface Limits {
  slots: ReadonlyMap<string, number>;
  /** Steps of searching that are left for the whole plan. */
  budget: { steps: number };
}

/** Steps for one recording: then it counts as one that does not fit. */
const MOST_STEPS = 5_000;

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

/** No rearrangement helps when at one moment there is no place for all channels of that moment. */
function isFull(rest: readonly Group[], group: Group, { slots }: Limits): boolean {
  const near = [...rest.filter((one) => overlaps(one, group)), group];
  const moments = new Set(near.map(({ from }) => Math.max(from, group.from)));
  const at = (time: number): Group[] => near.filter(({ from, to }) => from <= time && time < to);
  return [...moments].some((time) => !haveRoom(at(time), slots));
}

/** Searches tuners again for all groups that touch the new one in time, directly or through others. */
function rearranged(rest: readonly Group[], group: Group, { slots, budget }: Limits): Group[] | undefined {
  const cluster = clusterOf(rest, group);
  const others = rest.filter((one) => !cluster.includes(one));
  const wanted = [...cluster, group].sort((a, b) => a.from - b.from || a.to - b.to);
  const search = { wanted, slots, steps: Math.min(MOST_STEPS, budget.steps), failed: new Set<string>() };
  const before = search.steps;
  const found = place(search, 0, []);
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
  /** By start. */
  wanted: readonly Group[];
  slots: ReadonlyMap<string, number>;
  steps: number;
  /** Choices for the groups that are still on air after which the rest found no place. */
  failed: Set<string>;
}

/** Tuners for the groups from that place on, after the choices for earlier ones. */
function place(search: Search, at: number, earlier: readonly Group[]): Group[] | undefined {
  const group = search.wanted[at];
  if (!group) return [];
  const near = earlier.filter(({ to }) => to > group.from);
  const state = `${at} ${near.map(({ tunerId }) => tunerId).join()}`;
  if (search.failed.has(state)) return undefined;
  for (const tunerId of new Set(group.tunerId ? [group.tunerId, ...group.options] : group.options)) {
    search.steps -= 1;
    if (search.steps < 0) return undefined;
    const own = { ...group, tunerId };
    if (!isFree(near, own, search.slots.get(tunerId) ?? 0)) continue;
    const found = place(search, at + 1, [...near, own]);
    if (found) return [own, ...found];
  }
  search.failed.add(state);
  return undefined;
}
