import type { Wanted } from './wanted.ts';

/** Programmes of one channel that overlap each other: they share a slot. Times are Unix ms. */
export interface Group {
  channelId: string;
  from: number;
  to: number;
  ids: readonly string[];
  /** Tuners that may take it, in order. */
  options: readonly string[];
  tunerId: string;
}

export interface Interval {
  from: number;
  to: number;
}

export const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && b.from < a.to;

/** The most groups at any one time of the window. */
export function peakOf(groups: readonly Interval[], window: Interval): number {
  const within = groups.filter((one) => overlaps(one, window));
  const starts = within.map(({ from }) => Math.max(from, window.from));
  return Math.max(0, ...starts.map((time) => within.filter(({ from, to }) => from <= time && to > time).length));
}

/** Whether the tuner of the group has a slot for all of its time. */
export function isFree(groups: readonly Group[], group: Group, slots: number): boolean {
  const own = groups.filter(({ tunerId }) => tunerId === group.tunerId);
  return peakOf(own, group) < slots;
}

/** The groups without those that the programme joins, and the group that it makes with them; its tuner is not chosen yet. */
export function mergeInto(groups: readonly Group[], one: Wanted): { rest: Group[]; group: Group } {
  const own = { from: one.startMs, to: one.endMs };
  const isJoined = (group: Group): boolean => group.channelId === one.channelId && overlaps(group, own);
  const joined = groups.filter(isJoined);
  const rest = groups.filter((group) => !isJoined(group));
  return {
    rest,
    group: {
      channelId: one.channelId,
      from: Math.min(own.from, ...joined.map(({ from }) => from)),
      to: Math.max(own.to, ...joined.map(({ to }) => to)),
      ids: [one.id, ...joined.flatMap(({ ids }) => ids)],
      options: optionsOf(one, { rest, joined }),
      tunerId: '',
    },
  };
}

/** A running recording stays where it is. Else the tuner that already has the channel comes first. */
function optionsOf(one: Wanted, { rest, joined }: { rest: readonly Group[]; joined: readonly Group[] }): string[] {
  const own = one.pinned === undefined ? one.tunerIds : [one.pinned];
  const shared = own.filter((id) => joined.every(({ options }) => options.includes(id)));
  const near = [
    ...joined,
    ...rest.filter(({ channelId, from, to }) => {
      return channelId === one.channelId && (to === one.startMs || from === one.endMs);
    }),
  ].map(({ tunerId }) => tunerId);
  return [...new Set([...near.filter((id) => shared.includes(id)), ...shared])];
}
