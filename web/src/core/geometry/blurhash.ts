// The blurhash of an ImageRef: its average colour at once, and a few pixels of it as a picture.
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~';

type Colour = readonly [red: number, green: number, blue: number];

function numberIn(text: string): number {
  let value = 0;
  for (const letter of text) value = value * 83 + DIGITS.indexOf(letter);
  return value;
}

const averageOf = (hash: string): Colour => {
  const value = numberIn(hash.slice(2, 6));
  return [value >> 16, (value >> 8) & 255, value & 255];
};

/** A CSS colour; undefined for a text that is no blurhash. */
export function averageColour(hash: string | null | undefined): string | undefined {
  return hash && isWhole(hash) ? `rgb(${averageOf(hash).join(' ')})` : undefined;
}

function isWhole(hash: string): boolean {
  const size = numberIn(hash.slice(0, 1));
  const factors = ((size % 9) + 1) * (Math.floor(size / 9) + 1);
  return hash.length === 4 + 2 * factors && [...hash].every((letter) => DIGITS.includes(letter));
}

const linear = (value: number): number => {
  const v = value / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
};
const srgb = (value: number): number => {
  const v = Math.min(1, Math.max(0, value));
  return Math.round((v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055) * 255);
};
const signedSquare = (value: number): number => Math.sign(value) * value * value;

function factorsOf(hash: string): { across: number; down: number; factors: Colour[] } {
  const size = numberIn(hash.slice(0, 1));
  const [across, down] = [(size % 9) + 1, Math.floor(size / 9) + 1];
  const most = (numberIn(hash.slice(1, 2)) + 1) / 166;
  const [red, green, blue] = averageOf(hash);
  const factors: Colour[] = [[linear(red), linear(green), linear(blue)]];
  for (let at = 1; at < across * down; at += 1) {
    const value = numberIn(hash.slice(4 + at * 2, 6 + at * 2));
    const part = (step: number): number => signedSquare((step - 9) / 9) * most;
    factors.push([part(Math.floor(value / 361)), part(Math.floor(value / 19) % 19), part(value % 19)]);
  }
  return { across, down, factors };
}

/** RGB, row by row. */
export function pixelsOf(hash: string, width: number, height: number): Uint8Array {
  const { across, down, factors } = factorsOf(hash);
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const sum = [0, 0, 0];
      for (let at = 0; at < across * down; at += 1) {
        const basis =
          Math.cos((Math.PI * x * (at % across)) / width) * Math.cos((Math.PI * y * Math.floor(at / across)) / height);
        for (const part of [0, 1, 2] as const) sum[part] = (sum[part] ?? 0) + (factors[at]?.[part] ?? 0) * basis;
      }
      pixels.set(sum.map(srgb), (y * width + x) * 3);
    }
  return pixels;
}

const HEAD = 54;
const SIDE = 8;
const MOST_KEPT = 2000;
const kept = new Map<string, string>();

/** A bitmap of 8 by 8 pixels as an address; the browser smooths it. Undefined for a text that is no blurhash. */
export function blurredPicture(hash: string | null | undefined): string | undefined {
  if (!hash || !isWhole(hash)) return undefined;
  const known = kept.get(hash);
  if (known) return known;
  const made = `data:image/bmp;base64,${btoa(String.fromCharCode(...bitmap(pixelsOf(hash, SIDE, SIDE))))}`;
  kept.set(hash, made);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return made;
}

/** Windows bitmap: rows from below, blue first; rows of 8 pixels need no padding. */
function bitmap(pixels: Uint8Array): Uint8Array {
  const file = new Uint8Array(HEAD + pixels.length);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]);
  view.setUint32(2, file.length, true);
  view.setUint32(10, HEAD, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, SIDE, true);
  view.setInt32(22, SIDE, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let at = 0; at < SIDE * SIDE; at += 1) {
    const to = HEAD + ((SIDE - 1 - Math.floor(at / SIDE)) * SIDE + (at % SIDE)) * 3;
    file.set([pixels[at * 3 + 2] ?? 0, pixels[at * 3 + 1] ?? 0, pixels[at * 3] ?? 0], to);
  }
  return file;
}
