// Finds the timing at which cues fit the speech in some stretches of a soundtrack, and whether these decide it. Pure.
import { confidenceOf, FINE_MS, type Fit, fewer, RATE_GAIN, ROUGH_MS } from './align.ts';
import { activity, bestOf, type Heard, leadOf, mirrored, RATES, type Span, scaled, scoresOf } from './correlate.ts';

/** At the common offset, or so near to it, each stretch has this share of its best score: near 1 where the text fits, below it behind a cut. */
const LEAST_SHARE = 0.75;
const AGREE_MS = 300;
/** The best score of a stretch that differs is at least this share of it, and half as much of one that fits: less is chance. */
const LEAST_TELLING = 0.09;
/** Parts of the stretches at whose cues speech begins nearly as at all of them: at another rate it would not. */
const PARTS = 3;
const SAME_LEAD_MS = 120;
/** Share of the cues that may lie before the first, or behind the last, of the stretches that show something. */
const MOST_UNHEARD = 0.06;

/**
 * Fits cues by a few stretches of the soundtrack, with one offset for all of them. Undefined when the stretches do not
 * agree: then the whole soundtrack decides.
 */
export function alignBySamples(cues: readonly Span[], heard: Heard): Fit | undefined {
  const spans = fewer(cues);
  const last = (spans.at(-1)?.endMs ?? 0) * Math.max(...RATES);
  const rough = activity(heard, { binMs: ROUGH_MS, last });
  const rates = RATES.map((rate) => ({ rate, ...bestOf(scoresOf(scaled(spans, rate), rough), rough) }));
  const best = rates.reduce((a, b) => (b.score > a.score * RATE_GAIN ? b : a));
  const shown = scaled(spans, best.rate);
  const chance = bestOf(scoresOf(mirrored(shown), rough), rough).score;
  const fine = activity(heard, { binMs: FINE_MS, last });
  const { offsetMs } = bestOf(scoresOf(shown, fine, { nearMs: best.offsetMs, byMs: ROUGH_MS }), fine);
  const begins = shown.map(({ startMs }) => startMs + offsetMs);
  const lead = leadOf(begins, startsOf(heard));
  const size = Math.ceil(heard.stretches.length / PARTS);
  for (let at = 0; at < heard.stretches.length; at += size) {
    const own = leadOf(begins, startsOf(partOf(heard, at, size)));
    if (own !== 0 && Math.abs(own - lead) > SAME_LEAD_MS) return undefined; // it is 0 where too few cues show it
  }
  const judged = heard.stretches.map((_, at) => judgeStretch(shown, partOf(heard, at, 1), { last, offsetMs }));
  if (
    judged.includes('differs') ||
    isUnheard(
      begins,
      heard.stretches.filter((_, at) => judged[at] === 'fits'),
    )
  )
    return undefined;
  const confidence = confidenceOf(best.score, chance);
  return { rate: best.rate, offsetMs: Math.round(offsetMs + lead), pieces: [], confidence };
}

/** A stretch differs where it fits the text better at another offset: a scene is missing before or after it. */
function judgeStretch(
  shown: readonly Span[],
  part: Heard,
  { last, offsetMs }: { last: number; offsetMs: number },
): 'fits' | 'differs' | 'shows nothing' {
  const sound = activity(part, { binMs: ROUGH_MS, last });
  const scores = scoresOf(shown, sound);
  const { score: best } = bestOf(scores, sound);
  const [at, by] = [Math.round(offsetMs / ROUGH_MS) + sound.lead, Math.floor(AGREE_MS / ROUGH_MS)];
  const here = Math.max(...scores.subarray(Math.max(0, at - by), at + by + 1));
  const [verdict, telling] =
    here >= best * LEAST_SHARE ? (['fits', LEAST_TELLING / 2] as const) : (['differs', LEAST_TELLING] as const);
  return best * ROUGH_MS >= telling * lengthOf(part) ? verdict : 'shows nothing';
}

/** True when a cut before the first stretch that fits, or behind the last one, would move too many cues. */
function isUnheard(begins: readonly number[], fitting: readonly Span[]): boolean {
  const [from, to] = [fitting[0]?.startMs ?? Number.POSITIVE_INFINITY, fitting.at(-1)?.endMs ?? 0];
  const most = begins.length * MOST_UNHEARD;
  return begins.filter((ms) => ms < from).length > most || begins.filter((ms) => ms > to).length > most;
}

const startsOf = ({ speech }: Heard): number[] => speech.map(({ startMs }) => startMs);

const lengthOf = ({ stretches }: Heard): number =>
  stretches.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

function partOf({ speech, stretches }: Heard, at: number, size: number): Heard {
  const part = stretches.slice(at, at + size);
  const [from, to] = [part[0]?.startMs ?? 0, part.at(-1)?.endMs ?? 0];
  return { stretches: part, speech: speech.filter(({ startMs, endMs }) => endMs > from && startMs < to) };
}
