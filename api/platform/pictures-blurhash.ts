// The blurhash of ImageRef, as specified by woltapp/blurhash.
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~';

type Colour = [number, number, number];

export interface Raster {
  /** RGB, 8 bits each, row by row. */
  data: Uint8Array;
  width: number;
  height: number;
}

const linear = (value: number): number => {
  const v = value / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
};
const srgb = (value: number): number => {
  const v = Math.min(1, Math.max(0, value));
  return Math.trunc((v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055) * 255 + 0.5);
};
const base83 = (value: number, length: number): string =>
  Array.from({ length }, (_, at) => DIGITS[Math.floor(value / 83 ** (length - 1 - at)) % 83]).join('');
const signPow = (value: number, exponent: number): number => Math.sign(value) * Math.abs(value) ** exponent;

/** Expects a raster of at most a few hundred pixels; 4 by 3 components, more along the longer side. */
export function blurhash(raster: Raster): string {
  const [across, down] = raster.width >= raster.height ? [4, 3] : [3, 4];
  const factors = Array.from({ length: across * down }, (_, at) =>
    factor(raster, at % across, Math.floor(at / across)),
  );
  const [dc = [0, 0, 0] as Colour, ...ac] = factors;
  const most = Math.max(...ac.flat().map(Math.abs));
  const quantised = Math.max(0, Math.min(82, Math.floor(most * 166 - 0.5)));
  const scale = (quantised + 1) / 166;
  const sizes = base83(across - 1 + (down - 1) * 9, 1) + base83(quantised, 1);
  const [red, green, blue] = dc.map(srgb) as Colour;
  return (
    sizes + base83(red * 65_536 + green * 256 + blue, 4) + ac.map((colour) => base83(packed(colour, scale), 2)).join('')
  );
}

function packed(colour: Colour, scale: number): number {
  const steps = colour.map((value) =>
    Math.floor(Math.max(0, Math.min(18, Math.floor(signPow(value / scale, 0.5) * 9 + 9.5)))),
  );
  return (steps[0] ?? 0) * 361 + (steps[1] ?? 0) * 19 + (steps[2] ?? 0);
}

/** One component: the mean colour, weighted by a cosine along each side. */
function factor({ data, width, height }: Raster, i: number, j: number): Colour {
  const sum: Colour = [0, 0, 0];
  for (let at = 0; at < width * height; at += 1) {
    const x = at % width;
    const y = Math.floor(at / width);
    const weight = Math.cos((Math.PI * i * x) / width) * Math.cos((Math.PI * j * y) / height);
    for (const part of [0, 1, 2] as const) sum[part] += weight * linear(data[at * 3 + part] ?? 0);
  }
  const scale = (i === 0 && j === 0 ? 1 : 2) / (width * height);
  return sum.map((value) => value * scale) as Colour;
}
