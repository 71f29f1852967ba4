import sharp, { type Sharp } from 'sharp';

/** A plain picture. */
export const plain = (width: number, height: number, background = '#ff8800'): Sharp =>
  sharp({ create: { width, height, channels: 4, background } });

export const png = (width = 300, height = 200, background?: string): Promise<Buffer> =>
  plain(width, height, background).png().toBuffer();

/** Frames of changing colour, `delay` milliseconds each. */
export async function gif(frames: number, delay = 50, side = 64): Promise<Buffer> {
  const made = await Promise.all(
    Array.from({ length: frames }, (_, i) =>
      sharp({ create: { width: side, height: side, channels: 3, background: { r: (i * 37) % 256, g: 100, b: 50 } } })
        .png()
        .toBuffer(),
    ),
  );
  return sharp(made, { join: { animated: true } })
    .gif({ delay: made.map(() => delay) })
    .toBuffer();
}

/** The colour of one pixel, as #rrggbbaa. */
export async function pixel(picture: Buffer, left: number, top: number): Promise<string> {
  const data = await sharp(picture).ensureAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer();
  return `#${data.toString('hex')}`;
}

export const factsOf = (picture: Buffer) => sharp(picture, { animated: true }).metadata();
