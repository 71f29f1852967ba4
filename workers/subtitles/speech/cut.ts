import type { Speech } from '../../voice/detector.ts';

/** Longest stretch: two parts, which a model hears at once. */
export const STRETCH_MS = 60_000;
/** A Whisper model hears half a minute at a time. */
const PART_MS = 30_000;
/** A part is cut in its last third. */
const EARLIEST_MS = 20_000;
/** A shorter silence lies inside of a sentence. A model knows times in steps of 10 ms. */
const SILENCE_MS = 200;

/**
 * Where the one or two parts of a stretch end, ms from its beginning; the second end is that of the stretch. A cut lies in
 * the middle of the longest silence of the last third of a part; without one, half a minute after its beginning. Sound that
 * is shorter than a stretch is the rest of a film. `speech` is in order.
 */
export function cutsAt(speech: readonly Speech[], lengthMs: number): number[] {
  const first = endOf(speech, 0, lengthMs);
  return first === lengthMs ? [first] : [first, endOf(speech, first, lengthMs)];
}

function endOf(speech: readonly Speech[], fromMs: number, lengthMs: number): number {
  if (lengthMs < STRETCH_MS && lengthMs - fromMs <= PART_MS) return lengthMs;
  const latest = Math.min(fromMs + PART_MS, lengthMs);
  const starts = [...speech.map(({ startMs }) => startMs), lengthMs];
  const ends = [0, ...speech.map(({ endMs }) => endMs)];
  let best = { at: latest, ms: SILENCE_MS };
  for (const [i, end] of ends.entries()) {
    const from = Math.max(end, fromMs + EARLIEST_MS);
    const to = Math.min(starts[i] ?? lengthMs, latest);
    if (to - from > best.ms) best = { at: Math.round((from + to) / 20) * 10, ms: to - from };
  }
  return best.at;
}
