// Where the picture turns to credits: light on black, to the end of the film.
import type { Span } from '../intros/match.ts';

export const PICTURE = { width: 64, height: 36 };
export const PICTURE_BYTES = PICTURE.width * PICTURE.height;

/** Of 255; black in video is 16. */
const BLACK = 32;
/** Share of black pixels in a picture of credits. */
const LEAST_BLACK = 0.85;

/** Whether a grey picture is mostly black. */
export function isBlack(picture: Uint8Array): boolean {
  let black = 0;
  for (const value of picture) if (value < BLACK) black += 1;
  return black >= LEAST_BLACK * picture.length;
}

interface Limits {
  leastMs: number;
  mostMs: number;
}

/** Logos and a last scene after the credits. */
const AFTER = 60;
/** Pictures inside credits that are not black, such as photos. */
const LEAST_SHARE = 0.8;

/**
 * The credits in the end of a film, one value a second: from the first black second after which almost all are black, to
 * the last black one. Undefined without credits, and for a whole that is black.
 */
export function creditsIn(seconds: readonly boolean[], { leastMs, mostMs }: Limits): Span | undefined {
  const last = seconds.lastIndexOf(true);
  if (last < 0 || seconds.length - 1 - last > AFTER) return undefined;
  const start = startOf(seconds, last);
  const length = (last - start + 1) * 1000;
  if (start === 0 || length < leastMs || length > mostMs) return undefined;
  return { startMs: start * 1000, endMs: (last + 1) * 1000 };
}

/** The first black second after which almost all are black, up to the last one. */
function startOf(seconds: readonly boolean[], last: number): number {
  let [black, start] = [0, last];
  for (let at = last; at >= 0; at -= 1) {
    const length = last - at + 1;
    if (seconds[at]) black += 1;
    if (black < LEAST_SHARE * length - AFTER) break;
    if (seconds[at] && black >= LEAST_SHARE * length) start = at;
  }
  return start;
}

/** The place of the last change from light to black in pictures of a fixed rate; undefined without one. */
export function turnsBlack(pictures: readonly boolean[]): number | undefined {
  for (let at = pictures.length - 1; at > 0; at -= 1) if (pictures[at] && !pictures[at - 1]) return at;
  return undefined;
}
