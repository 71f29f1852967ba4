import type { BookTags } from '#platform/media.ts';
import { present } from '#workers/present.ts';
import { type ArchiveEntry, ENTRY_BYTES } from '../archive/limits.ts';
import { listSeven, readSeven } from '../archive/seven.ts';
import { elementsOf, xmlText } from '../archive/xml.ts';
import { openZip } from '../archive/zip.ts';
import { readPdf } from '../books/pdf.ts';
import { emptyBook, isbnOf, languageOf, lineOf, namesOf, plainText } from '../books/texts.ts';

const PICTURES = /\.(?:jpe?g|png|webp|avif|gif|jxl|tiff?|bmp)$/i;
const INFO = 'comicinfo.xml';

/** ComicInfo.xml and the number of pages of a CBZ, CBR, CB7, CBT or PDF. Throws if it is none. */
export async function readComic(path: string, kind: string): Promise<BookTags> {
  if (kind === 'pdf') return readPdf(path);
  const { entries, info } = kind === 'zip' ? await inZip(path) : await inSeven(path);
  const pages = entries.filter(({ name }) => isPage(name)).length;
  if (pages === 0) throw new Error('a comic without pages');
  return { ...(info ? infoOf(info) : emptyBook()), pages };
}

/** Whether an entry is a page, by its name. */
export const isPage = (name: string): boolean => PICTURES.test(name) && !isHidden(name);

const isHidden = (name: string): boolean => name.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');

const isInfo = ({ name }: ArchiveEntry): boolean => name.toLowerCase().split('/').at(-1) === INFO;

async function inZip(path: string): Promise<{ entries: readonly ArchiveEntry[]; info: Buffer | undefined }> {
  const zip = await openZip(path);
  try {
    return { entries: zip.entries, info: await zip.read(zip.entries.find(isInfo)?.name ?? '') };
  } finally {
    zip.close();
  }
}

async function inSeven(path: string): Promise<{ entries: readonly ArchiveEntry[]; info: Buffer | undefined }> {
  const entries = await listSeven(path);
  const info = entries.find(isInfo);
  return { entries, info: info && (await readSeven(path, info.name, ENTRY_BYTES)) };
}

function infoOf(xml: Buffer): BookTags {
  const members = new Map(elementsOf(xmlText(xml)).map(({ name, text }) => [name, text]));
  const line = (name: string): string | undefined => lineOf(members.get(name));
  const many = (name: string): string[] => namesOf((members.get(name) ?? '').split(','));
  const series = line('series');
  return {
    ...emptyBook(),
    ...present({
      title: line('title'),
      publisher: line('publisher'),
      language: languageOf(members.get('languageiso')),
      isbn: isbnOf(members.get('gtin')),
      description: plainText(members.get('summary')),
      date: dayOf(line('year'), line('month'), line('day')),
      ageRating: line('agerating'),
      series:
        series === undefined
          ? undefined
          : { title: series, ...present({ number: line('number'), volume: line('volume') }) },
      direction: line('manga') === 'YesAndRightToLeft' ? ('rtl' as const) : undefined,
    }),
    authors: many('writer'),
    illustrators: namesOf(['penciller', 'inker', 'colorist', 'coverartist'].flatMap(many)),
    translators: many('translator'),
    genres: many('genre'),
  };
}

function dayOf(year: string | undefined, month: string | undefined, day: string | undefined): string | undefined {
  if (!/^[12]\d{3}$/.test(year ?? '')) return undefined;
  const parts = [month, day].map((part) => (/^\d{1,2}$/.test(part ?? '') ? Number(part) : 0));
  const known = parts[0] === 0 ? [] : parts[1] === 0 ? parts.slice(0, 1) : parts;
  return [year, ...known.map((part) => String(part).padStart(2, '0'))].join('-');
}
