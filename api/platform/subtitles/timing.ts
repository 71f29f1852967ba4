/** Timing correction of a subtitle track: shown time is cue time x `rate` + the offset in force at that cue. */
export interface Timing {
  offsetMs: number;
  /** 1 is as made. */
  rate: number;
  /** Cue times from which another offset holds, rising in `fromMs`. */
  pieces: readonly TimingPiece[];
}

export interface TimingPiece {
  fromMs: number;
  offsetMs: number;
}

/** The timing of a track that was never corrected. */
export const AS_MADE: Timing = { offsetMs: 0, rate: 1, pieces: [] };

/** True when the correction changes nothing. */
export function isAsMade({ offsetMs, rate, pieces }: Timing): boolean {
  return offsetMs === 0 && rate === 1 && pieces.every((piece) => piece.offsetMs === 0);
}

/** The correction with an offset on top of it. */
export function later({ offsetMs, rate, pieces }: Timing, byMs: number): Timing {
  return {
    offsetMs: offsetMs + byMs,
    rate,
    pieces: pieces.map((piece) => ({ fromMs: piece.fromMs, offsetMs: piece.offsetMs + byMs })),
  };
}

/** Number of pieces that begin at or before a cue time. */
function piecesUntil(pieces: readonly TimingPiece[], atMs: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.fromMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The offset in force at a cue time. */
export function offsetAt({ offsetMs, pieces }: Timing, atMs: number): number {
  return pieces[piecesUntil(pieces, atMs) - 1]?.offsetMs ?? offsetMs;
}

/** When a cue time is shown, in whole milliseconds; may be below 0. */
export function shownAt(timing: Timing, atMs: number): number {
  return Math.round(atMs * timing.rate) + offsetAt(timing, atMs);
}

/** Cues at the times of the correction, in order. A cue keeps the offset of its start; one that would end before 0 is left out. */
export function timedCues<Cue extends { startMs: number; endMs: number }>(
  cues: readonly Cue[],
  timing: Timing,
): readonly Cue[] {
  if (isAsMade(timing)) return cues;
  return cues
    .map((cue) => {
      const offset = offsetAt(timing, cue.startMs);
      const startMs = Math.max(Math.round(cue.startMs * timing.rate) + offset, 0);
      return { ...cue, startMs, endMs: Math.round(cue.endMs * timing.rate) + offset };
    })
    .filter((cue) => cue.endMs > 0)
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
}

/** A part of a cue on the clock of the film: the cue times `fromMs` to `toMs` begin at `atMs`. */
export interface TimedPart {
  fromMs: number;
  toMs: number;
  atMs: number;
  untilMs: number;
}

/**
 * Parts of a cue that lasts over pieces. A part ends where the next one begins, and nothing is before 0. Empty when the
 * whole cue would end before 0.
 */
export function timedParts(cue: { startMs: number; endMs: number }, timing: Timing): TimedPart[] {
  const { pieces, rate } = timing;
  const first = piecesUntil(pieces, cue.startMs);
  const cuts = pieces.slice(first, piecesUntil(pieces, cue.endMs - 1)).map((piece) => piece.fromMs);
  const starts = [cue.startMs, ...cuts];
  const parts = starts.map((fromMs, i): TimedPart => {
    const toMs = starts[i + 1] ?? cue.endMs;
    const offset = pieces[first + i - 1]?.offsetMs ?? timing.offsetMs;
    return { fromMs, toMs, atMs: Math.round(fromMs * rate) + offset, untilMs: Math.round(toMs * rate) + offset };
  });
  return parts.flatMap((part, i) => {
    const untilMs = Math.min(part.untilMs, ...parts.slice(i + 1).map(({ atMs }) => atMs));
    return untilMs > Math.max(part.atMs, 0) ? [{ ...part, untilMs }] : [];
  });
}

/**
 * Cue times that may be shown from `fromMs` to `toMs`: one stretch that includes them all. The result is empty (`to` not
 * over `from`) when none can be.
 */
export function cueStretch(
  timing: Timing,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): { fromMs: number; toMs: number } {
  const starts = [Number.NEGATIVE_INFINITY, ...timing.pieces.map((piece) => piece.fromMs)];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [i, start] of starts.entries()) {
    const offset = timing.pieces[i - 1]?.offsetMs ?? timing.offsetMs;
    const from = Math.max((fromMs - offset) / timing.rate, start);
    const to = Math.min((toMs - offset) / timing.rate, starts[i + 1] ?? Number.POSITIVE_INFINITY);
    if (to <= from) continue;
    least = Math.min(least, from);
    most = Math.max(most, to);
  }
  return { fromMs: Math.max(Math.floor(least), 0), toMs: Math.ceil(most) };
}
