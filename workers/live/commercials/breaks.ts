// Where a recording is interrupted by commercials, from what its picture and its sound show. Pure.
import type { Span } from '../../analysis/intros/match.ts';

export interface Evidence {
  durationMs: number;
  /** Where the picture is black. */
  blacks: readonly Span[];
  /** Where the sound is silent. */
  silences: readonly Span[];
  /** Where the logo of the channel is missing; undefined when it distinguishes nothing. */
  bare: readonly Span[] | undefined;
}

export interface Break extends Span {
  /** 0 to 1. */
  confidence: number;
}

/** A longer black or silent part is a scene, not a cut. */
const LONGEST_CUT_MS = 5000;
/** Picture and sound may be apart by so much. */
const APART_MS = 300;
/** A programme between two breaks is longer. */
const LEAST_PROGRAMME_MS = 60_000;
/** A longer part without a logo is a programme without one. */
const LONGEST_BREAK_MS = 15 * 60_000;
const LEAST_BREAK_MS = 20_000;
/** No broadcast has more commercials: then its logo is a graphic of the programme that comes and goes. */
const MOST_SHARE = 0.4;
/** A logo goes at most this long before the cut, and comes back at most this long after it. */
const LOGO = { earlyMs: 12_000, lateMs: 15_000, blurMs: 3000 };

/** In order, without overlaps. */
export function breaksIn(evidence: Evidence): Break[] {
  const cuts = cutsOf(evidence);
  const found = evidence.bare ? byLogo(evidence, evidence.bare, cuts) : byLengths(cuts);
  const breaks = joined(found).filter(({ startMs, endMs }) => endMs - startMs >= LEAST_BREAK_MS);
  const brokenMs = breaks.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  return brokenMs > evidence.durationMs * MOST_SHARE ? [] : breaks;
}

const isShort = ({ startMs, endMs }: Span): boolean => endMs - startMs <= LONGEST_CUT_MS;

/** Short black parts that are silent too. */
function cutsOf({ blacks, silences }: Evidence): Span[] {
  let from = 0;
  return blacks.filter(isShort).filter((black) => {
    while ((silences[from]?.endMs ?? Number.POSITIVE_INFINITY) < black.startMs - APART_MS) from += 1;
    const silence = silences[from];
    return silence !== undefined && silence.startMs <= black.endMs + APART_MS;
  });
}

/** Where a logo is missing, from cut to cut. */
function byLogo({ durationMs, blacks, silences }: Evidence, bare: readonly Span[], cuts: readonly Span[]): Break[] {
  const weak = [...blacks, ...silences].filter(isShort);
  return bare.flatMap((part) => {
    const length = part.endMs - part.startMs;
    if (length < LEAST_BREAK_MS || length > LONGEST_BREAK_MS) return [];
    const ends = { fromMs: part.startMs - LOGO.blurMs, toMs: part.startMs + LOGO.earlyMs, aboutMs: part.startMs };
    const begins = { fromMs: part.endMs - LOGO.lateMs, toMs: part.endMs + LOGO.blurMs, aboutMs: part.endMs };
    const found = breakOf(part, durationMs, [edge(ends, cuts, weak), edge(begins, cuts, weak)]);
    return found && found.endMs > found.startMs ? [found] : [];
  });
}

/** Certainty by how many ends are at a cut. */
const CONFIDENCE = { 1: 0.8, 2: 0.95 } as const;

/** A part without a logo, from edge to edge; undefined where too few of them were found. */
function breakOf(part: Span, durationMs: number, [first, last]: readonly (Edge | undefined)[]): Break | undefined {
  const strong = [first, last].filter((one) => one?.strong).length;
  if (strong === 0) return undefined; // speech pauses as often as a weak edge demands
  const { startMs, endMs } = atEnds(part, durationMs);
  return {
    startMs: first?.startMs ?? startMs,
    endMs: last?.endMs ?? endMs,
    confidence: strong === 1 ? CONFIDENCE[1] : CONFIDENCE[2],
  };
}

/** To the ends of the recording, where the part almost reaches them. */
const atEnds = ({ startMs, endMs }: Span, durationMs: number): Span => ({
  startMs: startMs <= LOGO.blurMs ? 0 : startMs,
  endMs: endMs >= durationMs - LOGO.blurMs ? durationMs : endMs,
});

interface Edge extends Span {
  /** At a cut, which is black and silent. */
  strong: boolean;
}

interface Window {
  fromMs: number;
  toMs: number;
  aboutMs: number;
}

/** The nearest cut; else, close by, the nearest part that is only black or only silent. */
function edge(window: Window, cuts: readonly Span[], weak: readonly Span[]): Edge | undefined {
  const cut = nearest(window, cuts);
  if (cut) return { ...cut, strong: true };
  const { aboutMs } = window;
  const near = nearest({ aboutMs, fromMs: aboutMs - LOGO.blurMs, toMs: aboutMs + LOGO.blurMs }, weak);
  return near && { ...near, strong: false };
}

const middleOf = ({ startMs, endMs }: Span): number => (startMs + endMs) / 2;

function nearest({ fromMs, toMs, aboutMs }: Window, spans: readonly Span[]): Span | undefined {
  let best: Span | undefined;
  for (const span of spans) {
    if (middleOf(span) < fromMs || middleOf(span) > toMs) continue;
    if (!best || Math.abs(middleOf(span) - aboutMs) < Math.abs(middleOf(best) - aboutMs)) best = span;
  }
  return best;
}

/** A spot is at most this long, and almost always a multiple of five seconds. */
const SPOT = { leastMs: 4500, mostMs: 65_000, stepMs: 5000, offMs: 400 };
const LEAST_SPOTS = 3;
/** From so many spots on one in five may have an odd length. */
const MANY_SPOTS = 5;
const ROUND_SHARE = 0.8;

/** Without a logo: rows of spots whose lengths are round. Dark scenes have cuts too, but at any distance. */
function byLengths(cuts: readonly Span[]): Break[] {
  const found: Break[] = [];
  let row: Span[] = [];
  for (const cut of [...cuts, undefined]) {
    const last = row.at(-1);
    if (cut && (!last || lengthBetween(last, cut) <= SPOT.mostMs)) {
      row.push(cut);
      continue;
    }
    const spots = spotsIn(row);
    if (spots) found.push(spots);
    row = cut ? [cut] : [];
  }
  return found;
}

const lengthBetween = (a: Span, b: Span): number => middleOf(b) - middleOf(a);

function isRound(lengthMs: number): boolean {
  const off = Math.abs(lengthMs - Math.round(lengthMs / SPOT.stepMs) * SPOT.stepMs);
  return lengthMs >= SPOT.leastMs && off <= SPOT.offMs;
}

/** The row without the scenes at its ends; undefined when the rest is no break. */
function spotsIn(row: readonly Span[]): Break | undefined {
  const round = row.slice(1).map((cut, i) => isRound(lengthBetween(row[i] as Span, cut)));
  const [from, to] = [round.indexOf(true), round.lastIndexOf(true)];
  const [first, last] = [row[from], row[to + 1]];
  if (!first || !last) return undefined;
  const spots = round.slice(from, to + 1);
  const share = spots.filter(Boolean).length / spots.length;
  const isBreak = spots.length >= LEAST_SPOTS && share >= (spots.length >= MANY_SPOTS ? ROUND_SHARE : 1);
  const span = { startMs: first.startMs, endMs: last.endMs };
  return isBreak && span.endMs - span.startMs <= LONGEST_BREAK_MS ? { ...span, confidence: 0.6 } : undefined;
}

/** A trailer that shows the logo divides no break. */
function joined(breaks: readonly Break[]): Break[] {
  const all: Break[] = [];
  for (const one of breaks) {
    const last = all.at(-1);
    if (!last || one.startMs - last.endMs >= LEAST_PROGRAMME_MS || one.endMs - last.startMs > LONGEST_BREAK_MS) {
      all.push({ ...one, startMs: Math.max(one.startMs, last?.endMs ?? 0) });
      continue;
    }
    last.endMs = Math.max(last.endMs, one.endMs);
    last.confidence = Math.min(last.confidence, one.confidence);
  }
  return all;
}

/** Parts where a value a second is false, once single seconds that differ from those around them are passed over. */
export function stretchesWithout(seconds: readonly boolean[]): Span[] {
  const around = 3;
  const found: Span[] = [];
  for (const [at, value] of smooth(seconds, around).entries()) {
    if (value) continue;
    const last = found.at(-1);
    if (last && last.endMs === at * 1000) last.endMs += 1000;
    else found.push({ startMs: at * 1000, endMs: (at + 1) * 1000 });
  }
  return found;
}

function smooth(seconds: readonly boolean[], around: number): boolean[] {
  return seconds.map((_, at) => {
    const near = seconds.slice(Math.max(0, at - around), at + around + 1);
    return near.filter(Boolean).length * 2 > near.length;
  });
}
