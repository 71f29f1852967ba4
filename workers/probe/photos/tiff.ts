/** Pixels of 8 bits. */
export interface Pixels {
  width: number;
  height: number;
  /** RGBA or BGRA, four bytes a pixel. */
  data: Uint8Array | Uint8ClampedArray;
}

const SIDE = 2560;
const HEAD = 8;
const ENTRY = 12;

/** The picture as an uncompressed TIFF in RGB, at most 2,560 pixels a side: each pixel is the mean of those it stands for. */
export function tiffOf(picture: Pixels, order: 'rgba' | 'bgra' = 'rgba'): Buffer {
  const step = Math.max(1, Math.ceil(Math.max(picture.width, picture.height) / SIDE));
  const [across, down] = [Math.floor(picture.width / step), Math.floor(picture.height / step)];
  const rgb = Buffer.alloc(across * down * 3);
  const [red, blue] = order === 'rgba' ? [0, 2] : [2, 0];
  for (let i = 0; i < across * down; i += 1) {
    const corner = (Math.floor(i / across) * picture.width + (i % across)) * step;
    rgb[i * 3] = meanOf(picture, { corner, step, channel: red });
    rgb[i * 3 + 1] = meanOf(picture, { corner, step, channel: 1 });
    rgb[i * 3 + 2] = meanOf(picture, { corner, step, channel: blue });
  }
  return Buffer.concat([headOf(across, down), rgb]);
}

/** Mean of one channel over the square of `step` pixels at a corner. */
function meanOf(
  { width, data }: Pixels,
  { corner, step, channel }: { corner: number; step: number; channel: number },
): number {
  let sum = 0;
  for (let y = 0; y < step; y += 1)
    for (let x = 0; x < step; x += 1) sum += data[(corner + y * width + x) * 4 + channel] ?? 0;
  return sum / (step * step);
}

const [SHORT, LONG] = [3, 4];

function headOf(width: number, height: number): Buffer {
  const bits = HEAD + 2 + 9 * ENTRY + 4;
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, LONG, 1, width],
    [257, LONG, 1, height],
    [258, SHORT, 3, bits],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 2],
    [273, LONG, 1, bits + 6],
    [277, SHORT, 1, 3],
    [278, LONG, 1, height],
    [279, LONG, 1, width * height * 3],
  ];
  const head = Buffer.alloc(bits + 6);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(HEAD, 4);
  head.writeUInt16LE(entries.length, HEAD);
  for (const [i, [tag, type, count, value]] of entries.entries()) {
    const at = HEAD + 2 + i * ENTRY;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  for (let i = 0; i < 3; i += 1) head.writeUInt16LE(8, bits + i * 2);
  return head;
}
