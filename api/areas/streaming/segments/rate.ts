/** An exact frame rate: `num` / `den` frames a second, so a frame lasts `den` ticks of a clock of `num` Hz. */
export interface Rate {
  num: number;
  den: number;
}

const NTSC = [24, 30, 48, 60, 120];
const WHOLE = [1, 2, 5, 6, 8, 10, 12, 15, 16, 18, 20, 24, 25, 30, 48, 50, 60, 90, 100, 120];

/** Slower clocks give a frame too few ticks for rounding errors. */
const MIN_CLOCK = 10_000;

/**
 * The standard rate nearest to a probed number (23.976 is 24000/1001). Other numbers, as of variable rates, take the
 * next higher standard rate, because a duplicate frame is less visible than a dropped one.
 */
export function exactRate(frameRate: number): Rate {
  const wanted = Math.min(Math.max(frameRate, 1), 120);
  for (const base of NTSC) {
    if (near(wanted, (base * 1000) / 1001, 0.0004)) return { num: base * 1000, den: 1001 };
  }
  const whole = WHOLE.find((rate) => near(wanted, rate, 0.002)) ?? WHOLE.find((rate) => rate > wanted) ?? 120;
  const den = Math.ceil(MIN_CLOCK / whole);
  return { num: whole * den, den };
}

function near(value: number, of: number, part: number): boolean {
  return Math.abs(value - of) <= of * part;
}
