import type { Speech } from '../../voice/detector.ts';

/** Longest stretch. */
export const STRETCH_MS = 60_000;
/** A stretch is cut in its second half. */
const EARLIEST_MS = 30_000;
/** A shorter silence lies inside of a sentence. */
const SILENCE_MS = 200;

/**
 * Where to end a stretch, ms from its beginning: in the middle of the longest silence of its second half; without one, at
 * its end. `speech` is in order.
 */
export function cutAt(speech: readonly Speech[], lengthMs: number): number {
  if (lengthMs < STRETCH_MS) return lengthMs;
  const starts = [...speech.map(({ startMs }) => startMs), lengthMs];
  const ends = [0, ...speech.map(({ endMs }) => endMs)];
  let best = { at: lengthMs, ms: SILENCE_MS };
  for (const [i, end] of ends.entries()) {
    const from = Math.max(end, EARLIEST_MS);
    const to = starts[i] ?? lengthMs;
    if (to - from > best.ms) best = { at: Math.round((from + to) / 2), ms: to - from };
  }
  return best.at;
}
