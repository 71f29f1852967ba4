import { readFile, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { PDFiumLibrary } from '@hyzyla/pdfium';
import { ENTRY_BYTES } from '../archive/limits.ts';
import { listSeven, readSeven } from '../archive/seven.ts';
import { elementsOf, type XmlElement, xmlText } from '../archive/xml.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { isPage } from '../comics/read.ts';
import { tiffOf } from '../photos/tiff.ts';
import { kindOf } from './kind.ts';

const PDF_BYTES = 192 << 20;
const PDF_SIDE = 1600;
const PDF_POINTS = 72;

/** The picture on the front of a book or comic: its cover, or its first page. Undefined for one without pictures. */
export async function readCover(path: string): Promise<Uint8Array | undefined> {
  const kind = await kindOf(path);
  if (kind === 'pdf') return pdfCover(path);
  if (kind === 'rar' || kind === '7z' || kind === 'tar') return sevenCover(path);
  if (kind !== 'zip') return undefined;
  const zip = await openZip(path);
  try {
    const name = (await epubCover(zip)) ?? firstPage(zip.entries.map((entry) => entry.name));
    return name === undefined ? undefined : await zip.read(name);
  } finally {
    zip.close();
  }
}

/** Pages in natural order: `p2` comes before `p10`. */
function firstPage(names: readonly string[]): string | undefined {
  const { compare } = new Intl.Collator('en', { numeric: true });
  return names.filter(isPage).toSorted(compare)[0];
}

async function epubCover(zip: Zip): Promise<string | undefined> {
  const container = await zip.read('META-INF/container.xml');
  if (!container) return undefined;
  const opf = elementsOf(xmlText(container)).find(({ name }) => name === 'rootfile')?.attributes['full-path'];
  const bytes = opf === undefined ? undefined : await zip.read(opf);
  if (opf === undefined || !bytes) return undefined;
  const href = hrefOf(elementsOf(xmlText(bytes)));
  return href === undefined ? undefined : posix.join(posix.dirname(opf), decodeURIComponent(href));
}

/** EPUB 3 marks the picture by a property, EPUB 2 by a `meta` that names its id. */
function hrefOf(elements: readonly XmlElement[]): string | undefined {
  const items = elements.filter(({ name }) => name === 'item');
  const id = elements.find(({ name, attributes }) => name === 'meta' && attributes['name'] === 'cover')?.attributes[
    'content'
  ];
  const marked = items.find(({ attributes }) => attributes['properties']?.split(' ').includes('cover-image'));
  const named = items.find(
    ({ attributes }) => attributes['id'] === (id ?? 'cover') && attributes['media-type']?.startsWith('image/'),
  );
  return (marked ?? named)?.attributes['href'];
}

async function sevenCover(path: string): Promise<Uint8Array | undefined> {
  const name = firstPage((await listSeven(path)).map((entry) => entry.name));
  return name === undefined ? undefined : readSeven(path, name, ENTRY_BYTES);
}

let library: Promise<PDFiumLibrary> | undefined;

async function pdfCover(path: string): Promise<Uint8Array | undefined> {
  if ((await stat(path)).size > PDF_BYTES) return undefined;
  library ??= PDFiumLibrary.init();
  const document = await (await library).loadDocument(await readFile(path));
  try {
    const page = document.getPage(0);
    const { originalWidth, originalHeight } = page.getOriginalSize();
    const scale = Math.min(PDF_SIDE / Math.max(originalWidth, originalHeight), (PDF_SIDE / PDF_POINTS) * 4);
    const { data, width, height } = await page.render({ scale, render: 'bitmap', colorSpace: 'BGRA' });
    return tiffOf({ data, width, height }, 'bgra');
  } finally {
    document.destroy();
  }
}
