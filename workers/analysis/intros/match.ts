// Finds the sound that two episodes have in common.
import { POINT_SEC, type Sound, STEP_MS } from './sound.ts';

/** The same sound in two episodes, ms. */
export interface Common {
  a: Span;
  b: Span;
}

export interface Span {
  startMs: number;
  endMs: number;
}

export const SHORTEST_MS = 15_000;
export const LONGEST_MS = 120_000;

/** Numbers of a print that occur more often say nothing: silence and held tones. */
const MOST_PLACES = 24;
const LEAST_VOTES = 12;
const OFFSETS = 6;
/** Differing bits of 32. */
const MOST_BITS = 8;
/** Half decibels: -60 dB. */
const QUIET = 72;
const GAP_POINTS = Math.round(3.5 / POINT_SEC);
/** Share of equal points in a common part. */
const LEAST_SHARE = 0.6;
/** Each number of a print describes this much sound after it. */
const REACH_SEC = 2.3;

/** The longest common part of at least 15 s; undefined without one. One of over two minutes is no opening. */
export function commonPart(a: Sound, b: Sound): Common | undefined {
  let best: { common: Common; length: number } | undefined;
  for (const offset of likelyOffsets(a.print, b.print)) {
    const run = longestRun(a, b, offset);
    if (!run) continue;
    const common = refined(a, b, { ...run, offset });
    const length = common.a.endMs - common.a.startMs;
    if (length >= SHORTEST_MS && length > (best?.length ?? 0)) best = { common, length };
  }
  return best && best.length <= LONGEST_MS ? best.common : undefined;
}

/** By how many points `b` may lie after `a`: where most equal beginnings of numbers meet. */
function likelyOffsets(a: Uint32Array, b: Uint32Array): number[] {
  const places = new Map<number, number[]>();
  for (const [i, value] of b.entries()) {
    const at = places.get(value >>> 16);
    if (at) at.push(i);
    else places.set(value >>> 16, [i]);
  }
  const votes = new Int32Array(a.length + b.length + 2);
  for (const [i, value] of a.entries()) {
    const at = places.get(value >>> 16);
    if (!at || at.length > MOST_PLACES) continue;
    for (const j of at) votes[j - i + a.length] = (votes[j - i + a.length] ?? 0) + 1;
  }
  const near = (k: number): number => (votes[k - 1] ?? 0) + (votes[k] ?? 0) + (votes[k + 1] ?? 0);
  const ranked = [...votes.keys()].filter((k) => near(k) >= LEAST_VOTES && (votes[k] ?? 0) >= (votes[k - 1] ?? 0));
  ranked.sort((one, two) => near(two) - near(one));
  return ranked.slice(0, OFFSETS).map((k) => k - a.length);
}

interface Run {
  /** Points of `a`, the last one included. */
  from: number;
  to: number;
}

/** The longest run of equal points with short gaps, at this offset. */
function longestRun(a: Sound, b: Sound, offset: number): Run | undefined {
  let best: Run | undefined;
  let run: (Run & { equal: number }) | undefined;
  const close = (): void => {
    if (run && run.equal >= LEAST_SHARE * (run.to - run.from + 1) && (!best || lengthOf(run) > lengthOf(best)))
      best = run;
    run = undefined;
  };
  const end = Math.min(a.print.length, b.print.length - offset);
  for (let i = Math.max(0, -offset); i < end; i += 1) {
    const differing = bitsOf(((a.print[i] ?? 0) ^ (b.print[i + offset] ?? 0)) >>> 0);
    if (differing > MOST_BITS || isQuiet(a, i)) continue;
    if (run && i - run.to > GAP_POINTS) close();
    run = run ? { from: run.from, to: i, equal: run.equal + 1 } : { from: i, to: i, equal: 1 };
  }
  close();
  return best && trimmed(best, (i) => bitsOf(((a.print[i] ?? 0) ^ (b.print[i + offset] ?? 0)) >>> 0) <= MOST_BITS);
}

/** Points that the ends of a run are judged by: two seconds. */
const END_POINTS = 16;

/** Without equal points at its ends that stand alone: other sounds are alike for a moment. */
function trimmed({ from, to }: Run, isEqual: (point: number) => boolean): Run {
  const share = (first: number): number => {
    let equal = 0;
    for (let i = first; i < first + END_POINTS; i += 1) if (isEqual(i)) equal += 1;
    return equal / END_POINTS;
  };
  while (from < to && (!isEqual(from) || share(from) < LEAST_SHARE)) from += 1;
  while (to > from && (!isEqual(to) || share(to - END_POINTS + 1) < LEAST_SHARE)) to -= 1;
  return { from, to };
}

const lengthOf = ({ from, to }: Run): number => to - from;

/** How many bits of 32 are set. */
export function bitsOf(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

const stepAt = (point: number): number => Math.round((point * POINT_SEC * 1000) / STEP_MS);

const isQuiet = ({ loudness }: Sound, point: number): boolean => (loudness[stepAt(point)] ?? 0) < QUIET;

/** The ends of a run by the loudness of both: a print smears them over two seconds. */
function refined(a: Sound, b: Sound, { from, to, offset }: Run & { offset: number }): Common {
  const shift = bestShift(a, b, { from: stepAt(from), to: stepAt(to), about: stepAt(offset) });
  const reach = Math.round((REACH_SEC * 1000) / STEP_MS);
  const inside = { from: stepAt(from) + reach + MARGIN, to: stepAt(to) - MARGIN };
  const { level, usual } = levelOf(a, b, { ...inside, shift });
  const isApart = (step: number): number => {
    const [one, two] = [a.loudness[step], b.loudness[step + shift]];
    if (one === undefined || two === undefined) return MOST_APART;
    if (one < QUIET && two < QUIET) return 0;
    return Math.min(MOST_APART, Math.abs(one - two - level));
  };
  const most = Math.max(LEAST_APART, 3 * usual);
  const startStep = walk(isApart, inside.from, { by: -1, steps: reach + 2 * MARGIN, most });
  const endStep = walk(isApart, inside.to, { by: 1, steps: reach + 2 * MARGIN, most }) + 1;
  const span = (steps: number): Span => ({
    startMs: Math.max(0, (startStep + steps) * STEP_MS),
    endMs: (endStep + steps) * STEP_MS,
  });
  return { a: span(0), b: span(shift) };
}

/** Steps: a second. */
const MARGIN = 50;
/** Half decibels. */
const MOST_APART = 40;
const LEAST_APART = 3;

/** How much louder `a` is, and how far from that the two usually are, in half decibels. */
function levelOf(a: Sound, b: Sound, { from, to, shift }: Steps & { shift: number }): { level: number; usual: number } {
  const differences: number[] = [];
  for (let step = from; step < to; step += 1) {
    const [one = 0, two = 0] = [a.loudness[step], b.loudness[step + shift]];
    if (one >= QUIET && two >= QUIET) differences.push(one - two);
  }
  const level = middleOf(differences);
  return { level, usual: middleOf(differences.map((difference) => Math.abs(difference - level))) };
}

const middleOf = (values: readonly number[]): number => [...values].sort((x, y) => x - y)[values.length >> 1] ?? 0;

interface Steps {
  from: number;
  to: number;
}

/** The offset in steps at which the loudness differs least. */
function bestShift(a: Sound, b: Sound, { from, to, about }: Steps & { about: number }): number {
  let best = { shift: about, sum: Number.POSITIVE_INFINITY };
  for (let shift = about - 10; shift <= about + 10; shift += 1) {
    let sum = 0;
    for (let step = from; step < to; step += 1)
      sum += Math.abs((a.loudness[step] ?? 0) - (b.loudness[step + shift] ?? 0));
    if (sum < best.sum) best = { shift, sum };
  }
  return best.shift;
}

/** Steps: half a second. */
const WINDOW = 25;

interface Walk {
  by: 1 | -1;
  steps: number;
  /** Half decibels. */
  most: number;
}

/** The last step at which both are equally loud, on a walk out of the common part. */
function walk(isApart: (step: number) => number, from: number, { by, steps, most }: Walk): number {
  for (let walked = 0; walked < steps; walked += 1) {
    const step = from + by * walked;
    let sum = 0;
    for (let k = 1; k <= WINDOW; k += 1) sum += isApart(step + by * k);
    if (sum <= most * WINDOW) continue;
    let last = step;
    for (let k = 1; k <= WINDOW && isApart(step + by * k) <= most; k += 1) last = step + by * k;
    return last;
  }
  return from + by * (steps - MARGIN);
}
