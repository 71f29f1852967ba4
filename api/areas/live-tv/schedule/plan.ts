// Which recordings get a slot of which tuner. Pure: the schedule reads the rows, and a test compares it with a search of all plans.
import { assign } from './assign.ts';
import { type Group, type Interval, isFree, mergeInto, overlaps, peakOf } from './groups.ts';
import type { PlanTuner, Wanted } from './wanted.ts';

export interface Planned {
  tunerId: string;
  /** From 0. */
  slot: number;
  /** With the padding that fits. */
  fromMs: number;
  toMs: number;
}

export interface Refused {
  /** Recordings that have the slots. */
  with: string[];
  /** Channels that would be received at the busiest moment. */
  slotsNeeded: number;
  /** Slots of the tuners of the channel. */
  slotsFree: number;
  fromMs: number;
  toMs: number;
}

export interface Plan {
  planned: Map<string, Planned>;
  refused: Map<string, Refused>;
  /** Kept programmes by channel and tuner, for `fits`. */
  groups: readonly Group[];
  slots: ReadonlyMap<string, number>;
}

/** Running ones first, then by priority, start and creation. */
const byRank = (a: Wanted, b: Wanted): number =>
  Number(b.pinned !== undefined) - Number(a.pinned !== undefined) ||
  b.priority - a.priority ||
  a.startMs - b.startMs ||
  a.createdMs - b.createdMs ||
  (a.id < b.id ? -1 : 1);

/**
 * Keeps each recording, in the order of rank, for which all kept ones still find slots; recordings of one channel share one.
 * Programmes alone decide: padding is added afterwards where slots are free.
 */
export function plan(wanted: readonly Wanted[], tuners: readonly PlanTuner[]): Plan {
  const slots = new Map(tuners.map(({ id, slots: count }) => [id, count]));
  const ranked = [...wanted].sort(byRank);
  const budget = { steps: 100_000 };
  let groups: Group[] = [];
  const kept: Wanted[] = [];
  const lost: Wanted[] = [];
  for (const one of ranked) {
    const next = assign(groups, one, { slots, budget });
    if (next) {
      groups = next;
      kept.push(one);
    } else lost.push(one);
  }
  const context = { groups, slots };
  const spans = spansOf(kept, groups);
  return {
    planned: withPadding(kept, spans, slots),
    refused: new Map(lost.map((one) => [one.id, refusalOf(one, spans, context)])),
    ...context,
  };
}

/** Whether a further programme would get a slot without moving another one. */
export function fits({ groups, slots }: Plan, one: Wanted): boolean {
  const { rest, group } = mergeInto(groups, one);
  return group.options.some((tunerId) => isFree(rest, { ...group, tunerId }, slots.get(tunerId) ?? 0));
}

type Context = Pick<Plan, 'groups' | 'slots'>;

interface Span extends Interval {
  id: string;
  channelId: string;
  tunerId: string;
}

/** The kept programmes on their tuners. */
function spansOf(kept: readonly Wanted[], groups: readonly Group[]): Span[] {
  const tunerOf = new Map(groups.flatMap(({ ids, tunerId }) => ids.map((id) => [id, tunerId] as const)));
  return kept.map(({ id, channelId, startMs: from, endMs: to }) => {
    return { id, channelId, tunerId: tunerOf.get(id) ?? '', from, to };
  });
}

/** The higher rank takes the free time first. */
function withPadding(
  kept: readonly Wanted[],
  programmes: readonly Span[],
  slots: ReadonlyMap<string, number>,
): Map<string, Planned> {
  const spans = new Map(programmes.map((span) => [span.id, { ...span }]));
  for (const { id, startMs, endMs, startPadMs, endPadMs } of kept) {
    const span = spans.get(id);
    if (!span) continue;
    const closed = (from: number, to: number): [number, number][] =>
      closedTimes([...spans.values()], span, { from, to, slots: slots.get(span.tunerId) ?? 0 });
    span.from = Math.max(startMs - startPadMs, ...closed(startMs - startPadMs, startMs).map(([, end]) => end));
    span.to = Math.min(endMs + endPadMs, ...closed(endMs, endMs + endPadMs).map(([begin]) => begin));
  }
  return slotted([...spans.values()]);
}

/** Times in a window at which a span may not be extended: its tuner is full, or another tuner receives its channel. */
function closedTimes(
  spans: readonly Span[],
  { id, channelId, tunerId }: Span,
  { from, to, slots }: { from: number; to: number; slots: number },
): [number, number][] {
  const near = spans.filter((one) => one.id !== id && one.from < to && one.to > from);
  const times = [...new Set([from, to, ...near.flatMap((one) => [one.from, one.to])])]
    .filter((time) => time >= from && time <= to)
    .sort((a, b) => a - b);
  const closed: [number, number][] = [];
  for (const [at, begin] of times.entries()) {
    const end = times[at + 1];
    if (end === undefined) break;
    const active = near.filter((one) => one.from < end && one.to > begin);
    const others = new Set(
      active.filter((one) => one.tunerId === tunerId && one.channelId !== channelId).map((one) => one.channelId),
    );
    const elsewhere = active.some((one) => one.channelId === channelId && one.tunerId !== tunerId);
    if (elsewhere || others.size >= slots) closed.push([begin, end]);
  }
  return closed;
}

/** Numbers the slots of each tuner: a channel keeps its slot while its recordings overlap. */
function slotted(spans: readonly Span[]): Map<string, Planned> {
  const planned = new Map<string, Planned>();
  for (const own of Map.groupBy(spans, ({ tunerId }) => tunerId).values()) {
    const open: { channelId: string; until: number; slot: number }[] = [];
    for (const { id, channelId, tunerId, from, to } of [...own].sort((a, b) => a.from - b.from || a.to - b.to)) {
      const busy = open.filter(({ until }) => until > from);
      let mine = busy.find((one) => one.channelId === channelId);
      if (!mine) {
        const slot = lowestFree(busy.map((one) => one.slot));
        mine = { channelId, until: to, slot };
        open.push(mine);
      }
      mine.until = Math.max(mine.until, to);
      planned.set(id, { tunerId, slot: mine.slot, fromMs: from, toMs: to });
    }
  }
  return planned;
}

function lowestFree(taken: readonly number[]): number {
  let slot = 0;
  while (taken.includes(slot)) slot += 1;
  return slot;
}

/** The recordings that have the slots in that time, on the tuners of the channel or with the channel on another tuner. */
function refusalOf(one: Wanted, spans: readonly Span[], { groups, slots }: Context): Refused {
  const programme = { from: one.startMs, to: one.endMs };
  const isRival = (other: Pick<Span, 'channelId' | 'tunerId'> & Interval): boolean =>
    overlaps(other, programme) && (other.channelId === one.channelId || one.tunerIds.includes(other.tunerId));
  const rivals = spans.filter(isRival);
  const times = rivals.length > 0 ? rivals : [programme];
  const others = groups.filter((group) => isRival(group) && group.channelId !== one.channelId);
  return {
    with: rivals.map(({ id }) => id).sort(),
    slotsNeeded: peakOf(others, programme) + 1,
    slotsFree: one.tunerIds.reduce((sum, id) => sum + (slots.get(id) ?? 0), 0),
    fromMs: Math.max(one.startMs, Math.min(...times.map(({ from }) => from))),
    toMs: Math.min(one.endMs, Math.max(...times.map(({ to }) => to))),
  };
}
