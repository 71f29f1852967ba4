// Finds the timing at which the cues of a subtitle fit the speech of a soundtrack. Pure; linear in cues and offsets.
import {
  type Activity,
  activity,
  bestOf,
  binsOf,
  type Heard,
  leadOf,
  mirrored,
  RATES,
  type Span,
  scaled,
  scoresOf,
} from './correlate.ts';

/** Shown time is cue time x rate + the offset in force at the cue. */
export interface Fit {
  rate: number;
  offsetMs: number;
  /** Cue times from which another offset holds, in order. */
  pieces: { fromMs: number; offsetMs: number }[];
  /** 0 to 1; below 0.5 the text is probably not of this soundtrack. */
  confidence: number;
}

/** Milliseconds of one bin: to judge all rates, to compare the best of them, and to fit. */
export const ROUGH_MS = 80;
const COARSE_MS = 40;
export const FINE_MS = 20;
/** More cues are joined to their neighbours. */
const MOST_SPANS = 2500;
/** Parts of the text whose offsets are free while a rate is judged, so that a cut does not hide it. */
const PARTS = 6;
/** Rates whose fit is computed. */
const BEST_RATES = 3;
/** Speech that another offset must gain, ms: less is chance. */
const SPLIT_MS = 7000;
/** Another rate than 1 must be so much better. */
export const RATE_GAIN = 1.01;
/** Offsets that are nearer to each other are one. */
const SAME_MS = 80;

/** Score beyond that of a mirrored text at which a fit is certain. */
const CERTAIN = 0.7;

/** Fits cues to speech. All spans are in order of their starts. */
export function align(cues: readonly Span[], heard: Heard): Fit {
  const spans = fewer(cues);
  const last = (spans.at(-1)?.endMs ?? 0) * Math.max(...RATES);
  const [rough, coarse, fine] = [ROUGH_MS, COARSE_MS, FINE_MS].map((binMs) => activity(heard, { binMs, last })) as [
    Activity,
    Activity,
    Activity,
  ];
  const judged = RATES.map((rate) => ({ rate, score: bestOfParts(scaled(spans, rate), rough) }));
  judged.sort((a, b) => b.score - a.score);
  const compared = judged.slice(0, BEST_RATES).map(({ rate }) => {
    const { score } = bestPath(scaled(spans, rate), coarse);
    return { rate, score, weight: score * (rate === 1 ? RATE_GAIN : 1) };
  });
  const best = compared.reduce((a, b) => (b.weight > a.weight ? b : a));
  const shown = scaled(spans, best.rate);
  const chance = bestPath(mirrored(shown), coarse).score;
  return {
    rate: best.rate,
    ...piecesOf(bestPath(shown, fine), { spans, shown, speech: heard.speech }),
    confidence: confidenceOf(best.score, chance),
  };
}

/** 0 for a score like that of the mirrored text. */
export const confidenceOf = (score: number, chance: number): number =>
  Math.max(0, Math.min(1, (score / Math.max(1, chance) - 1) / CERTAIN));

/** At most `MOST_SPANS` spans: neighbours with the shortest pauses between them become one. */
export function fewer(cues: readonly Span[]): Span[] {
  if (cues.length <= MOST_SPANS) return [...cues];
  const pauses = cues.map(({ startMs }, i) => startMs - (cues[i - 1]?.endMs ?? 0));
  const limit = pauses.toSorted((a, b) => b - a)[MOST_SPANS - 1] ?? 0;
  const spans: Span[] = [];
  for (const [i, { startMs, endMs }] of cues.entries()) {
    const last = spans.at(-1);
    if (last && ((pauses[i] ?? 0) < limit || spans.length === MOST_SPANS)) last.endMs = Math.max(last.endMs, endMs);
    else spans.push({ startMs, endMs });
  }
  return spans;
}

/** The sum of the best scores of each part of the text, whose offsets are free. */
function bestOfParts(spans: readonly Span[], sound: Activity): number {
  const size = Math.ceil(spans.length / PARTS);
  let score = 0;
  for (let at = 0; at < spans.length; at += size)
    score += bestOf(scoresOf(spans.slice(at, at + size), sound), sound).score;
  return score;
}

interface Path {
  /** Bins of speech within the spans beyond the average. */
  score: number;
  /** Offset of each span, ms. */
  offsets: number[];
}

/** Offsets of which only the best is remembered, as a power of two. */
const BLOCK = 6;
/** How much lines may be shown out of their order at a change of the offset. */
const DISORDER_MS = 1000;

/**
 * The best offset of each span. Each change of the offset has a price, and keeps the order of the lines: a text cannot
 * go back by more than its pause.
 */
function bestPath(spans: readonly Span[], sound: Activity): Path {
  const scores = new Float64Array(sound.offsets);
  const steps = spans.map((span, i): Step => {
    const pause = i === 0 ? 0 : span.startMs - (spans[i - 1]?.endMs ?? 0) + DISORDER_MS;
    const before = bestBefore(scores, Math.round(pause / sound.binMs));
    const step = { before, changed: new Uint8Array((sound.offsets >> 3) + 1) };
    addSpan(scores, step, { span, sound, price: i === 0 ? Number.POSITIVE_INFINITY : SPLIT_MS / sound.binMs });
    return step;
  });
  return pathBack(steps, bestOf(scores, sound), sound);
}

/** What led to the scores of a span. */
interface Step {
  before: Before;
  /** A bit for each offset: set where the spans before have another offset. */
  changed: Uint8Array;
}

/** Adds a span to the scores of each offset, or to the best of the others less the price. */
function addSpan(
  scores: Float64Array,
  { before, changed }: Step,
  { span, sound, price }: { span: Span; sound: Activity; price: number },
): void {
  const { sums, offsets } = sound;
  const [from, to] = binsOf(span, sound);
  for (let o = 0; o < offsets; ) {
    const end = Math.min(offsets, before.blockEnd(o));
    const other = (before.scores[before.blockOf(o)] as number) - price;
    for (; o < end; o += 1) {
      const stays = scores[o] as number;
      if (other > stays) changed[o >> 3] = (changed[o >> 3] as number) | (1 << (o & 7));
      scores[o] = Math.max(other, stays) + (sums[to + o] as number) - (sums[from + o] as number);
    }
  }
}

/** The offsets that lead to the best score. */
function pathBack(steps: readonly Step[], best: { score: number; offsetMs: number }, { lead, binMs }: Activity): Path {
  const offsets: number[] = [];
  let at = best.offsetMs / binMs + lead;
  for (const [i, { before, changed }] of [...steps.entries()].reverse()) {
    offsets[i] = (at - lead) * binMs;
    if (((changed[at >> 3] ?? 0) >> (at & 7)) & 1) at = before.offsets[before.blockOf(at)] ?? at;
  }
  return { score: best.score, offsets };
}

/** The best scores of the spans before, over all offsets up to the end of each block. */
interface Before {
  scores: Float64Array;
  offsets: Int32Array;
  /** The last block whose offsets keep the order of the lines when the next one has offset `o`. */
  blockOf: (o: number) => number;
  /** The first offset after `o` that has another such block. */
  blockEnd: (o: number) => number;
}

function bestBefore(scores: Float64Array, pause: number): Before {
  const blocks = ((scores.length - 1) >> BLOCK) + 1;
  const best: Before = {
    scores: new Float64Array(blocks),
    offsets: new Int32Array(blocks),
    blockOf: (o) => Math.min(blocks - 1, Math.max(0, o + pause) >> BLOCK),
    blockEnd: (o) => ((Math.max(0, o + pause) >> BLOCK) + 1) * 2 ** BLOCK - pause,
  };
  let [score, at] = [Number.NEGATIVE_INFINITY, 0];
  for (let o = 0; o < scores.length; o += 1) {
    if ((scores[o] as number) > score) [score, at] = [scores[o] as number, o];
    best.scores[o >> BLOCK] = score;
    best.offsets[o >> BLOCK] = at;
  }
  return best;
}

/** Neighbouring spans with the same offset. */
interface Run {
  from: number;
  to: number;
  offsetMs: number;
}

interface Fitted {
  spans: readonly Span[];
  /** The spans at their rate. */
  shown: readonly Span[];
  speech: readonly Span[];
}

function piecesOf({ offsets }: Path, { spans, shown, speech }: Fitted): Pick<Fit, 'offsetMs' | 'pieces'> {
  const runs: Run[] = [];
  for (const [i, offsetMs] of offsets.entries()) {
    const last = runs.at(-1);
    if (last && Math.abs(last.offsetMs - offsetMs) <= SAME_MS) last.to = i;
    else runs.push({ from: i, to: i, offsetMs });
  }
  const starts = speech.map(({ startMs }) => startMs);
  for (const run of runs) {
    const begins = shown.slice(run.from, run.to + 1).map(({ startMs }) => startMs + run.offsetMs);
    run.offsetMs = Math.round(run.offsetMs + leadOf(begins, starts));
  }
  const [first, ...rest] = runs;
  return {
    offsetMs: first?.offsetMs ?? 0,
    pieces: rest.map(({ from, offsetMs }) => ({ fromMs: Math.round(spans[from]?.startMs ?? 0), offsetMs })),
  };
}
