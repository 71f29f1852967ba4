// XMP next to a photo, with the members that photo programs read.
import type { SavedItem } from './values.ts';
import { documentOf, group, line, lines, type Xml } from './xml.ts';

const SPACES = {
  'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
  'xmlns:exif': 'http://ns.adobe.com/exif/1.0/',
  'xmlns:photoshop': 'http://ns.adobe.com/photoshop/1.0/',
  'xmlns:xmp': 'http://ns.adobe.com/xap/1.0/',
  'xmlns:Iptc4xmpExt': 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
};

/** The XMP of a photo. */
export function xmpOf({ values }: SavedItem): Buffer {
  const taken = momentOf(values.takenAt, values.takenAtOffset);
  const tags = [...(values.tags ?? []), ...(values.genres ?? [])];
  const people = (values.people ?? []).map(({ name }) => name);
  const members: Xml[] = [
    translated('dc:title', values.title),
    translated('dc:description', values.overview),
    group('dc:subject', [group('rdf:Bag', [lines('rdf:li', tags)])]),
    line('photoshop:DateCreated', taken),
    line('exif:DateTimeOriginal', taken),
    line('exif:GPSLatitude', degrees(values.place?.latitude, 'NS')),
    line('exif:GPSLongitude', degrees(values.place?.longitude, 'EW')),
    line('xmp:Rating', values.rating === undefined ? undefined : Math.round(values.rating / 2)),
    group('Iptc4xmpExt:PersonInImage', [group('rdf:Bag', [lines('rdf:li', people)])]),
  ];
  const description = group('rdf:Description', members, { 'rdf:about': '', ...SPACES });
  const rdf = group('rdf:RDF', [description], { 'xmlns:rdf': 'http://www.w3.org/1999/02/22-rdf-syntax-ns#' });
  return documentOf(group('x:xmpmeta', [rdf], { 'xmlns:x': 'adobe:ns:meta/' }));
}

const translated = (name: string, text: string | undefined): Xml =>
  group(name, [group('rdf:Alt', [line('rdf:li', text, { 'xml:lang': 'x-default' })])]);

/** The moment as the clock of the camera showed it, with its distance from UTC where that is known. */
function momentOf(takenAt: string | undefined, offset: number | undefined): string | undefined {
  const time = takenAt === undefined ? Number.NaN : Date.parse(takenAt);
  if (Number.isNaN(time)) return undefined;
  const local = new Date(time + (offset ?? 0) * 60_000).toISOString().slice(0, 19);
  if (offset === undefined) return `${local}Z`;
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}

const two = (number: number): string => String(number).padStart(2, '0');

/** `52,31.1234567N`, as XMP has coordinates. */
function degrees(value: number | undefined, signs: string): string | undefined {
  if (value === undefined) return undefined;
  const whole = Math.floor(Math.abs(value));
  const minutes = ((Math.abs(value) - whole) * 60).toFixed(7);
  return `${whole},${minutes}${signs.charAt(value < 0 ? 1 : 0)}`;
}
