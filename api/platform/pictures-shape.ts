// Turns, crops, sizes and encodes an opened picture.
import sharp, { type Sharp } from 'sharp';
import { type PictureMake, type PicturePart, Refused } from './pictures-protocol.ts';

export type Opening = (options?: { animated: boolean }) => Sharp;

export interface Sides {
  width: number;
  height: number;
}

interface Made {
  bytes: Buffer;
  made: Sides & { animated: boolean };
}

/** A whole rectangle of pixels inside the sides. */
function areaOf({ x, y, width, height }: PicturePart, sides: Sides) {
  const left = Math.min(sides.width - 1, Math.floor(x * sides.width));
  const top = Math.min(sides.height - 1, Math.floor(y * sides.height));
  return {
    left,
    top,
    width: Math.max(1, Math.min(sides.width - left, Math.round(width * sides.width))),
    height: Math.max(1, Math.min(sides.height - top, Math.round(height * sides.height))),
  };
}

/** Covers the sides with the part around the focus. */
function coveredAbout(picture: Sharp, from: Sides, { width, height, focus = { x: 0.5, y: 0.5 } }: PictureMake): Sharp {
  const scale = Math.max(width / from.width, height / from.height);
  const wide = Math.max(width, Math.round(from.width * scale));
  const high = Math.max(height, Math.round(from.height * scale));
  const startOf = (at: number, whole: number, part: number): number =>
    Math.round(Math.min(Math.max(at * whole - part / 2, 0), whole - part));
  return picture
    .resize({ width: wide, height: high, fit: 'fill' })
    .extract({ left: startOf(focus.x, wide, width), top: startOf(focus.y, high, height), width, height });
}

function sized(picture: Sharp, from: Sides, make: PictureMake): Sharp {
  const { width, height, fit, enlarge, background } = make;
  if (fit === 'cover' && make.focus) return coveredAbout(picture, from, make);
  const resized = picture.resize({
    width,
    height,
    fit,
    withoutEnlargement: !enlarge,
    background: background ?? { r: 0, g: 0, b: 0, alpha: 0 },
  });
  return background && fit === 'contain' ? resized.flatten({ background }) : resized;
}

/** Turned and cropped: libvips keeps the order of these steps only in a pipeline of their own. */
async function instructed(picture: Sharp, sides: Sides, make: PictureMake): Promise<{ picture: Sharp; from: Sides }> {
  const { rotate = 0, crop } = make;
  const upright = picture.autoOrient();
  if (rotate === 0 && !crop) return { picture: upright, from: sides };
  const turned = rotate === 0 ? upright : upright.rotate(rotate);
  const across = rotate % 180 === 0 ? sides : { width: sides.height, height: sides.width };
  const area = crop ? areaOf(crop, across) : { left: 0, top: 0, ...across };
  const { data, info } = await turned.extract(area).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: info.channels };
  return { picture: sharp(data, { raw, limitInputPixels: false }), from: raw };
}

function encoded(picture: Sharp, { format, quality, lossless = false }: PictureMake): Sharp {
  if (format === 'png') return picture.png({ compressionLevel: 9 });
  if (format === 'jpeg') return picture.flatten({ background: '#ffffff' }).jpeg({ quality: quality ?? 80 });
  if (format === 'avif') return picture.avif({ quality: quality ?? 60, effort: 3, lossless });
  return picture.webp({ quality: quality ?? 85, effort: 4, lossless });
}

/** An animation is only sized: its frames lie below each other, so that parts of them cannot be cut. */
function animatedMake({ focus: _focus, crop: _crop, rotate: _rotate, ...make }: PictureMake): PictureMake {
  return make;
}

/** The steps, each smaller than the one before, that are tried until a picture has at most `maxBytes`. */
function triesOf(make: PictureMake): PictureMake[] {
  if (make.maxBytes === undefined) return [make];
  const tries = [make, { ...make, lossless: false, quality: 80 }, { ...make, lossless: false, quality: 60 }];
  const halves = [2, 4].map((part) => ({
    ...make,
    ...{ lossless: false, quality: 60, width: Math.ceil(make.width / part), height: Math.ceil(make.height / part) },
  }));
  return [...tries, ...halves];
}

/** Lossless if requested; while larger than `maxBytes`, lossy and smaller. */
export async function madeOf(
  open: Opening,
  sides: Sides,
  { make, animated }: { make: PictureMake; animated: boolean },
): Promise<Made> {
  for (const one of triesOf(animated ? animatedMake(make) : make)) {
    const { picture, from } = await instructed(open({ animated }), sides, one);
    const shaped = sized(picture, from, one).toColourspace('srgb');
    const blurred = one.blur ? shaped.blur(Math.max(0.3, one.blur)) : shaped;
    const { data, info } = await encoded(blurred, one).toBuffer({ resolveWithObject: true });
    if (data.length > (make.maxBytes ?? Number.POSITIVE_INFINITY)) continue;
    return { bytes: data, made: { width: info.width, height: info.pageHeight ?? info.height, animated } };
  }
  throw new Refused('image_too_large');
}
