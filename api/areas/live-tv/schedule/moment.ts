import type { Group } from './groups.ts';

interface Moment {
  taken: Map<string, Group[]>;
  slots: ReadonlyMap<string, number>;
}

/** Whether these groups, all on air at one moment, find a slot each: a matching of groups with the slots of their tuners. */
export function haveRoom(groups: readonly Group[], slots: ReadonlyMap<string, number>): boolean {
  const moment = { taken: new Map<string, Group[]>(), slots };
  return groups.every((group) => settle(group, moment, new Set()));
}

/** Gives the group a slot; another group moves to a further tuner where that makes room. */
function settle(group: Group, moment: Moment, tried: Set<string>): boolean {
  for (const tunerId of group.options) {
    if (tried.has(tunerId)) continue;
    tried.add(tunerId);
    const there = moment.taken.get(tunerId) ?? [];
    const isFree = there.length < (moment.slots.get(tunerId) ?? 0);
    const moved = isFree ? undefined : there.find((other) => settle(other, moment, tried));
    if (!isFree && !moved) continue;
    moment.taken.set(tunerId, [...there.filter((other) => other !== moved), group]);
    return true;
  }
  return false;
}
