import { open } from 'node:fs/promises';
import exifReader from 'exifreader';
import type { PhotoTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';

/** Of a larger file only the beginning is read, where cameras write their data. */
const WHOLE_BYTES = 32 << 20;
const HEAD_BYTES = 8 << 20;
const MOST_TEXT = 2000;
const MOST_LINE = 200;
const MOST_WORDS = 100;

/** What a picture says about itself: EXIF, IPTC and XMP. Throws for a file that is no picture. */
export async function readPhoto(path: string): Promise<{ container: string; tags: PhotoTags }> {
  await using file = await open(path);
  const { size } = await file.stat();
  const bytes = Buffer.alloc(size <= WHOLE_BYTES ? size : HEAD_BYTES);
  await file.read(bytes, 0, bytes.length, 0);
  const tags = exifReader.load(bytes, { expanded: true });
  const container = textOf(tags.file?.FileType)?.toLowerCase() ?? 'unknown';
  return { container, tags: tagsOf(tags as Record<string, Tags | undefined>) };
}

interface Tag {
  value?: unknown;
  description?: unknown;
}

function textOf(tag: unknown, most = MOST_LINE): string | undefined {
  const { description, value } = (tag ?? {}) as Tag;
  const shown = [description, value].find((one) => typeof one === 'string' || typeof one === 'number');
  const text = String(shown ?? '')
    .slice(0, most)
    .toWellFormed();
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line === '' ? undefined : line;
}

/** A number, or a fraction of two. */
function numberOf(tag: unknown): number | undefined {
  const { value } = (tag ?? {}) as Tag;
  const [over, under = 1] = Array.isArray(value) ? value.map(Number) : [Number(value)];
  const number = (over ?? Number.NaN) / under;
  return Number.isFinite(number) ? number : undefined;
}

type Tags = Readonly<Record<string, unknown>>;

function tagsOf(all: Readonly<Record<string, Tags | undefined>>): PhotoTags {
  const { exif = {}, file = {}, png = {}, iptc = {}, xmp = {}, gps = {} } = all;
  return {
    ...sizeOf(exif, { ...png, ...file }),
    ...present({
      takenLocal: localOf(exif),
      offsetMinutes: offsetOf(textOf(exif['OffsetTimeOriginal']) ?? textOf(exif['OffsetTime'])),
      camera: cameraOf(textOf(exif['Make']), textOf(exif['Model'])),
      lens: textOf(exif['LensModel']),
      exposure: exposureOf(exif),
      place: placeOf(gps),
      description: textOf(iptc['Caption/Abstract'] ?? exif['ImageDescription'], MOST_TEXT),
    }),
    keywords: wordsOf(iptc['Keywords'], xmp['subject']),
  };
}

/** Many models begin with the maker's name. */
function cameraOf(make: string | undefined, model: string | undefined): string | undefined {
  return model === undefined || make === undefined || model.startsWith(make) ? model : `${make} ${model}`;
}

const TURNED = 5;

/** As it is shown: orientations from 5 on lie on their side. */
function sizeOf(exif: Tags, file: Tags): Pick<PhotoTags, 'width' | 'height'> {
  const width = numberOf(file['Image Width']) ?? numberOf(exif['PixelXDimension']) ?? numberOf(exif['ImageWidth']);
  const height = numberOf(file['Image Height']) ?? numberOf(exif['PixelYDimension']) ?? numberOf(exif['ImageLength']);
  const isTurned = (numberOf(exif['Orientation']) ?? 1) >= TURNED;
  return present(isTurned ? { width: height, height: width } : { width, height });
}

const MOMENT = /^(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})/;

/** Cameras without a clock write zeros. */
function localOf(exif: Tags): string | undefined {
  const clock = textOf(exif['DateTimeOriginal']) ?? textOf(exif['DateTimeDigitized']);
  const [, year, month, day, ...time] = MOMENT.exec(clock ?? '') ?? [];
  if (year === undefined || Number(year) < 1826 || Number.isNaN(Date.parse(`${year}-${month}-${day}`)))
    return undefined;
  const fraction = /^\d{1,3}/.exec(textOf(exif['SubSecTimeOriginal']) ?? '')?.[0];
  return `${year}-${month}-${day}T${time.join(':')}${fraction === undefined ? '' : `.${fraction}`}`;
}

function offsetOf(text: string | undefined): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(text ?? '') ?? [];
  if (sign === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function exposureOf(exif: Tags): PhotoTags['exposure'] {
  const exposure = present({
    shutter: textOf(exif['ExposureTime']),
    aperture: numberOf(exif['FNumber']),
    iso: numberOf(exif['ISOSpeedRatings']),
    focalMm: numberOf(exif['FocalLength']),
  });
  return Object.keys(exposure).length > 0 ? exposure : undefined;
}

/** Without a fix, phones write 0, 0. */
function placeOf(gps: Tags): PhotoTags['place'] {
  const [latitude, longitude, altitudeM] = [Number(gps['Latitude']), Number(gps['Longitude']), Number(gps['Altitude'])];
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) || (latitude === 0 && longitude === 0))
    return undefined;
  return { latitude, longitude, ...(Number.isFinite(altitudeM) && { altitudeM }) };
}

function wordsOf(...tags: unknown[]): string[] {
  const words = tags
    .flatMap((tag) => (Array.isArray(tag) ? tag : [tag]))
    .flatMap((tag) => (textOf(tag, MOST_TEXT) ?? '').split(','));
  return [...new Set(words.map((word) => word.trim().slice(0, MOST_LINE)))]
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS);
}
