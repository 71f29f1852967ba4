// What a picture subtitle shows at once: a few rectangles on a plane as large as the film was.

export interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
  /** RGBA, row by row. */
  pixels: Uint8ClampedArray<ArrayBuffer>;
}

export interface Screen {
  width: number;
  height: number;
  parts: Part[];
}

/** A plane of 4K; no disc has a larger one. */
const MOST_PIXELS = 4096 * 2176;

/** A size that is drawn; others are damage or an attempt to exhaust memory. */
export const isDrawable = (width: number, height: number): boolean =>
  width > 0 && height > 0 && width * height <= MOST_PIXELS;

/** The bytes of a colour as a canvas has them, in one number. */
export const rgba = (red: number, green: number, blue: number, alpha: number): number =>
  ((alpha << 24) | (clamp(blue) << 16) | (clamp(green) << 8) | clamp(red)) >>> 0;

const clamp = (value: number): number => Math.min(255, Math.max(0, Math.round(value)));
