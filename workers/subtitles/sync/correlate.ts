// Speech as a signal, and cues that are moved over it.

/** A stretch of time, ms. */
export interface Span {
  startMs: number;
  endMs: number;
}

/** Rates between the frame rates of cinema, PAL and NTSC. */
export const RATES = [1, 25 / 23.976, 23.976 / 25, 25 / 24, 24 / 25, 24 / 23.976, 23.976 / 24] as const;

/** The greatest offset that is looked for. */
export const MOST_OFFSET_MS = 600_000;

/** The speech of a soundtrack, as far as it was listened to. */
export interface Heard {
  speech: readonly Span[];
  /** The parts that were listened to. */
  stretches: readonly Span[];
}

/** Spans at another rate. */
export const scaled = (spans: readonly Span[], rate: number): Span[] =>
  spans.map(({ startMs, endMs }) => ({ startMs: startMs * rate, endMs: endMs * rate }));

/** Speech as a signal. */
export interface Activity {
  binMs: number;
  /** Sums of speech less its share, from `MOST_OFFSET_MS` before the film. */
  sums: Float64Array;
  /** Number of offsets, the first of them -`MOST_OFFSET_MS`. */
  offsets: number;
  /** Bins of `sums` before the film. */
  lead: number;
}

/** Speech as sums of bins: positive where somebody speaks, negative where there is silence, and zero on average. */
export function activity({ speech, stretches }: Heard, { binMs, last }: { binMs: number; last: number }): Activity {
  const lead = MOST_OFFSET_MS / binMs;
  const bins = Math.ceil(Math.max(stretches.at(-1)?.endMs ?? 0, last) / binMs) + 2 * lead + 2;
  const add = (into: Float64Array, parts: readonly Span[], value: number): number => {
    let total = 0;
    for (const { startMs, endMs } of parts) {
      const [from, to] = [startMs / binMs + lead, Math.min(endMs / binMs + lead, bins - 1)];
      for (let bin = Math.floor(from); bin < to; bin += 1) {
        const share = Math.min(bin + 1, to) - Math.max(bin, from);
        into[bin] = (into[bin] ?? 0) + share * value;
        total += share;
      }
    }
    return total;
  };
  const values = new Float64Array(bins);
  const spoken = add(values, speech, 1);
  const length = stretches.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / binMs;
  const share = spoken / Math.max(1, length);
  add(values, stretches, -share);
  const sums = new Float64Array(bins + 1);
  for (let bin = 0; bin < bins; bin += 1) sums[bin + 1] = (sums[bin] ?? 0) + (values[bin] ?? 0);
  return { binMs, sums, offsets: 2 * lead + 1, lead };
}

/** First and last bin of a span at the first offset. */
export const binsOf = ({ startMs, endMs }: Span, { binMs }: Activity): [number, number] => {
  const from = Math.max(0, Math.round(startMs / binMs));
  return [from, Math.max(from + 1, Math.round(endMs / binMs))];
};

/** Offsets near one of them, ms. */
interface Near {
  nearMs: number;
  byMs: number;
}

/** The score of spans at each offset: bins of speech within them beyond the average. It is 0 at offsets that are not near. */
export function scoresOf(spans: readonly Span[], sound: Activity, near?: Near): Float64Array {
  const { sums, lead, binMs, offsets } = sound;
  const at = Math.round((near?.nearMs ?? 0) / binMs) + lead;
  const by = near ? Math.ceil(near.byMs / binMs) : offsets;
  const [first, end] = [Math.max(0, at - by), Math.min(offsets, at + by + 1)];
  const scores = new Float64Array(offsets);
  for (const span of spans) {
    const [from, to] = binsOf(span, sound);
    for (let o = first; o < end; o += 1)
      scores[o] = (scores[o] as number) + (sums[to + o] as number) - (sums[from + o] as number);
  }
  return scores;
}

/** The best of the scores, and its offset in ms. */
export function bestOf(scores: Float64Array, { lead, binMs }: Activity): { score: number; offsetMs: number } {
  let at = 0;
  for (let o = 1; o < scores.length; o += 1) if ((scores[o] as number) > (scores[at] as number)) at = o;
  return { score: scores[at] ?? 0, offsetMs: (at - lead) * binMs };
}

/**
 * The spans mirrored in time. They cannot fit, so their score is that of chance: a text of another film scores like its
 * mirror image.
 */
export function mirrored(spans: readonly Span[]): Span[] {
  const last = spans.at(-1)?.endMs ?? 0;
  return spans.map(({ startMs, endMs }) => ({ startMs: last - endMs, endMs: last - startMs })).reverse();
}

/** Beginnings that are further apart are not of the same words. */
const NEAR_MS = 500;
const LEAST_PAIRS = 8;

/** By how much speech begins after the cues, ms: the median of those that are near. */
export function leadOf(begins: readonly number[], starts: readonly number[]): number {
  const leads: number[] = [];
  let at = 0;
  for (const time of begins) {
    while (at + 1 < starts.length && Math.abs((starts[at + 1] ?? 0) - time) <= Math.abs((starts[at] ?? 0) - time))
      at += 1;
    const lead = (starts[at] ?? Number.POSITIVE_INFINITY) - time;
    if (Math.abs(lead) <= NEAR_MS) leads.push(lead);
  }
  if (leads.length < LEAST_PAIRS) return 0;
  leads.sort((a, b) => a - b);
  return leads[leads.length >> 1] ?? 0;
}
