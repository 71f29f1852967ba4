import { createHash } from 'node:crypto';
import type { Pictures } from '#platform/pictures.ts';
import type { Scheme } from './branding.schemas.ts';

/** The built-in logo: a doorway with light in it. */
const drawing = (line: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="512" height="512"><path d="M12 58V24a20 20 0 0 1 40 0v34" fill="none" stroke="${line}" stroke-width="6" stroke-linecap="round"/><path d="M24 58V26a8 8 0 0 1 16 0v32z" fill="#f5a524"/><path d="M6 58h52" stroke="${line}" stroke-width="6" stroke-linecap="round"/></svg>`;

const lines: Record<Scheme, string> = { dark: '#f4f1ea', light: '#2b2622' };

export interface BuiltIn {
  id: string;
  /** Hash of the drawing. */
  hash: string;
  svg: Buffer;
  /** 64 pixels, WebP. */
  small: Buffer;
  width: number;
  height: number;
  blurhash: string;
}

/** Output of `paintBuiltIn` at 64 pixels, served while no picture can be rendered. */
const small: Record<Scheme, string> = {
  dark: 'UklGRjQCAABXRUJQVlA4TCcCAAAvP8APELfCpo0kSe5ZGss/OXQX/k3DQRtJjuSeo3G0DuXhyx+acdtIQjz7QpRLk9RCC0h74za2bVXZz787TgGUDE2RM2RERJZ9v9HWwEJB8WmOnO4wRs+xZ34+9hITsSx+aGfuSBspXQYimgE7ll+UP7Jw2PlDOxmgq8wThgz+h0+HJJcAkWIVog4iQA5FrNbDIEArRAIFTf7RodoX1BQh8SJAMr1+b+8z+293fb9Jrmc+329lr+94gB22xz/X9VPAQalnhpR36lFdilpyM8BybVttE2ZOym2YmV+YmaEw/7lcX99nV+pXpeeI/jtwG0mRnGU+fTMP783q+8iUG22tMUyHp3PFGUKjFkMTY/9aScanGiPUfV4pxtNnxHouZZijjKOoUMCywLjKL7nNKkyqGg/aLTvNIoKJKpNWmfEuI2POucEeZ+udIMOS74w8g0oO+UdyaAxWNPOIMihiojyTKSa9GAcXg14FMY3B3PSvaw8ZOYe+kepFsldwpMEneyRa1+DVTDxMA6C2pnlggOOHKwd8thDNGJj8cJYDsiTzFuDkpcG/ESvFFP5YNqjvz+tBXL6+UTr4E/JRhIGEQOzvpzPodN8LpDgQpkgBAWy8nZEENgSBDEUZsCPuZ7Q7wgYMKRqABTnjhDsJqQXQpGgDO6mvs0yfyIFAm4IBQuoqR8g+nwIOco7KO8v2r5E+2WGq1HkT0DtTLQF11NNRXV39lV9wyB+QAAA=',
  light:
    'UklGRgACAABXRUJQVlA4TPQBAAAvP8APEP/BIJIkJ32BIAKfSMYFa4NRG0mOvDlgOP5YjtB9rxk0kqSo7u75Lbx/iQzDNrJtJf+jEZG3SEk0YzENWOjubjfAPs8mbO+wvUPXKnWt+OtdKSgYxYdVMDjw4cYLYKWAjID4ARUNSUOSwuLCRZ6iouBHQFpA+f/6nbiS8qrJWozO60+rqHLdx2j4ID0r7m+S/cTJbyfFu/tqvu/eCwIeVMRVIZQVYeQLdBRr7hkAlm3baRvZDrwwMzMzs+Y/rVzJT3JW/7pWRP8nQP7u8LBVziSi0USm0hqGrHP7hQhpxwo9x6Z1J0mMyfbKmtGOmHcjO5ZVMlhbWrDJk9Hcxtg2TepUYzCZCzGfDBopFaW3hjZpUhbGQmqKcVFB6Y2RZY5wdip9T7OI8ksTNcL7hWRc1BFVDYwIdyVzF9GIbb1DXcneRbs1V5vgXhrcA+owOUmQXZg4ZEDS4ekTnEqjU0B9ngIoSsMFUGAJxcDY1BhEwhxD+k4JrffzdjxeX28tkfqiIUcLNKTm53G+wPPjoyEboMVRAgONz/2ief9oDECZIwMmGo+L9kNjAjIcCTBXvc9657dqBhIcUSBUr4vPp0qAKAdBqb75uakkIAuOfk72XXz/a+Q14xTIeNNDTQpsE8WDE/8VzeA0kdeMByPe9NAfHw==',
};

function drawn(scheme: Scheme, id: string, blurhash: string): BuiltIn {
  const svg = Buffer.from(drawing(lines[scheme]));
  const hash = createHash('sha256').update(svg).digest('hex');
  return { id, svg, hash, blurhash, width: 1024, height: 1024, small: Buffer.from(small[scheme], 'base64') };
}

export const builtIn: Readonly<Record<Scheme, BuiltIn>> = {
  dark: drawn('dark', '01900000-0000-7000-8000-0000000b0001', 'LZK-2mxa14o#E2a|Mxaet-j]VXe.'),
  light: drawn('light', '01900000-0000-7000-8000-0000000b0002', 'LbB_^eoK0*R,Nbazs-j@9{az-RoK'),
};

const rules = { accepts: ['svg'] as const, minSide: 16, maxSide: 1024, maxPixels: 4_194_304, maxFrames: 1 };
const make = { format: 'webp', width: 1024, height: 1024, fit: 'inside', lossless: true } as const;
const painted = new Map<Scheme, Promise<Buffer>>();

/** Renders the built-in logo as lossless WebP. Throws when rendering fails; the next call tries again. */
export function paintBuiltIn(pictures: Pictures, scheme: Scheme): Promise<Buffer> {
  const known = painted.get(scheme);
  if (known) return known;
  const given = { bytes: builtIn[scheme].svg, type: 'image/svg+xml' };
  const made = pictures.take(given, rules, make).then(({ bytes }) => bytes);
  painted.set(scheme, made);
  made.catch(() => painted.delete(scheme));
  return made;
}
