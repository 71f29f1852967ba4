// A perceptual hash: which low frequencies of a small grey picture are strong. Pictures that look alike differ in few bits.

export const PHASH_SIDE = 32;
const LOW = 8;

/** Cosines of the eight lowest frequencies over a line. */
const COSINES = Array.from({ length: LOW }, (_, k) =>
  Float64Array.from({ length: PHASH_SIDE }, (__, x) => Math.cos(((2 * x + 1) * k * Math.PI) / (2 * PHASH_SIDE))),
);

/** 64 bits of a grey picture of 32 by 32, as 16 hexadecimal digits. */
export function phash(grey: Uint8Array): string {
  const lines = COSINES.map((cosines) =>
    Float64Array.from({ length: PHASH_SIDE }, (_, y) => {
      let sum = 0;
      for (let x = 0; x < PHASH_SIDE; x += 1) sum += (grey[y * PHASH_SIDE + x] ?? 0) * (cosines[x] ?? 0);
      return sum;
    }),
  );
  const strengths = COSINES.flatMap((cosines) =>
    lines.map((line) => line.reduce((sum, value, y) => sum + value * (cosines[y] ?? 0), 0)),
  );
  // The first is the brightness of the whole, which says nothing about the picture.
  const others = strengths.slice(1).sort((a, b) => a - b);
  const middle = others[others.length >> 1] ?? 0;
  return strengths
    .reduce((bits, value, i) => bits | (BigInt(i > 0 && value > middle) << BigInt(63 - i)), 0n)
    .toString(16)
    .padStart(16, '0');
}
