import { crc32, deflateSync } from 'node:zlib';
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

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A valid PNG of zeros, which is small for its pixels. */
export function bomb(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([1, 0, 0, 0, 0], 8); // 1 bit, greyscale
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 });
  const sign = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([sign, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}
